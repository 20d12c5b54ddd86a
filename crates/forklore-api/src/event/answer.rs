//! The blocks of an answer: on their way, and whole.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// Text for people.
    Text,
    /// What the model thinks.
    Thinking,
    /// A call of a tool.
    ToolCall,
}

/// The block that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockStarted {
    /// What it is.
    pub block_type: BlockKind,
    /// Its number in the answer, from 0.
    pub block_index: usize,
}

/// More of a block.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockPiece {
    /// What the block is.
    pub block_type: BlockKind,
    /// Its number in the answer, from 0.
    pub block_index: usize,
    /// What comes behind the text so far.
    pub delta: String,
}

/// The block that is whole, and stored.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockEnded {
    /// What it is.
    pub block_type: BlockKind,
    /// Its number in the answer, from 0.
    pub block_index: usize,
    /// How many blocks the answer has.
    pub total_blocks: usize,
    /// What it says.
    pub block: Block,
    /// Whether the answer broke off or was interrupted.
    pub partial: bool,
}

/// What a block says.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Block {
    /// A call of a tool.
    Call(CalledTool),
    /// A text.
    Text {
        /// The text.
        text: String,
    },
}

/// A call of a tool, as the model made it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalledTool {
    /// The call's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
}

/// What the model thought, whole.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thought {
    /// The number of its block in the answer, from 0.
    pub block_index: usize,
    /// The text.
    pub thinking: String,
}
