//! Events about the blocks of a model's answer: streamed pieces and complete blocks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of a block. A model's answer consists of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A block of text for the user.
    Text,
    /// A block of the model's reasoning.
    Thinking,
    /// A block with a tool call.
    ToolCall,
}

/// Data of the event `content_block:start`: a block of a model's answer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockStarted {
    /// The type of the block: text, reasoning or a tool call.
    pub block_type: BlockKind,
    /// The block's number among the blocks of the model's answer, from 0.
    pub block_index: usize,
}

/// Data of the events `content_block:delta` and `thinking:delta`: one more piece of a block of a
/// model's answer arrived.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockPiece {
    /// The type of the block: text, reasoning or a tool call.
    pub block_type: BlockKind,
    /// The block's number among the blocks of the model's answer, from 0.
    pub block_index: usize,
    /// The next piece of the block's text. Append it to the pieces received so far.
    pub delta: String,
}

/// Data of the event `content_block:end`: a block of a model's answer was stored. If the answer
/// broke off, the text of the block may be incomplete.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockEnded {
    /// The type of the block: text or a tool call. A block of reasoning ends with `thinking:final`
    /// instead.
    pub block_type: BlockKind,
    /// The block's number among the blocks of the model's answer, from 0.
    pub block_index: usize,
    /// The number of blocks in the model's answer.
    pub total_blocks: usize,
    /// The content of the block, as stored.
    pub block: Block,
    /// Whether the model's answer is incomplete, because it broke off or was interrupted.
    pub partial: bool,
}

/// The content of a block of a model's answer.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Block {
    /// A block with a tool call.
    Call(CalledTool),
    /// A block of text for the user.
    Text {
        /// The text of the block.
        text: String,
    },
}

/// A tool call that a model requested.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalledTool {
    /// The id of the tool call.
    pub id: String,
    /// The name of the called tool.
    pub name: String,
    /// The arguments of the tool call.
    pub arguments: Value,
}

/// Data of the event `thinking:final`: a complete block of a model's reasoning.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thought {
    /// The block's number among the blocks of the model's answer, from 0.
    pub block_index: usize,
    /// The text of the model's reasoning.
    pub thinking: String,
}
