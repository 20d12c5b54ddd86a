//! Events about the blocks of a model's answer: streamed pieces and complete blocks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The type of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Text for the user.
    Text,
    /// The model's reasoning.
    Thinking,
    /// A tool call.
    ToolCall,
}

/// Data of the event for a block that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockStarted {
    /// The type of the block.
    pub block_type: BlockKind,
    /// The block's number in the answer, from 0.
    pub block_index: usize,
}

/// Data of the event for a streamed piece of a block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockPiece {
    /// The type of the block.
    pub block_type: BlockKind,
    /// The block's number in the answer, from 0.
    pub block_index: usize,
    /// The text to append to the block's text so far.
    pub delta: String,
}

/// Data of the event for a complete block. The answer that contains the block is already stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockEnded {
    /// The type of the block.
    pub block_type: BlockKind,
    /// The block's number in the answer, from 0.
    pub block_index: usize,
    /// The number of blocks in the answer.
    pub total_blocks: usize,
    /// The content of the block.
    pub block: Block,
    /// Whether the answer is incomplete, because it broke off or was interrupted.
    pub partial: bool,
}

/// The content of a block.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Block {
    /// A tool call.
    Call(CalledTool),
    /// A text block.
    Text {
        /// The text of the block.
        text: String,
    },
}

/// A tool call that the model requested.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalledTool {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Value,
}

/// A complete block of the model's reasoning.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thought {
    /// The block's number in the answer, from 0.
    pub block_index: usize,
    /// The text of the reasoning.
    pub thinking: String,
}
