//! Names made of words, which people can say and remember.

/// The first words of names.
#[rustfmt::skip]
const FIRST: [&str; 256] = [
    "airy", "alert", "amber", "ample", "arctic", "ashen", "autumn", "azure", "balmy", "basic",
    "bold", "bonny", "brave", "breezy", "brief", "bright", "brisk", "broad", "bronze",
    "bubbly", "busy", "calm", "candid", "cheery", "chief", "chilly", "choice", "civic",
    "clean", "clear", "clever", "close", "cloudy", "cobalt", "cool", "coral", "cosmic", "cozy",
    "cream", "crimson", "crisp", "curly", "daily", "dainty", "dapper", "daring", "deep",
    "deft", "dense", "dewy", "distant", "downy", "dreamy", "dry", "dusky", "eager", "early",
    "earnest", "easy", "elder", "elm", "epic", "equal", "even", "exact", "fabled", "fair",
    "famous", "fancy", "fast", "festive", "fine", "first", "fleet", "floral", "fluent",
    "fluffy", "fond", "formal", "forest", "frank", "free", "fresh", "frosty", "full",
    "gallant", "gentle", "giant", "gifted", "glad", "gleaming", "glossy", "golden", "good",
    "grand", "grassy", "green", "hardy", "happy", "healthy", "hearty", "hidden", "high",
    "hollow", "honest", "humble", "icy", "ideal", "inner", "ivory", "jade", "jolly", "jovial",
    "keen", "kind", "large", "lasting", "late", "lavender", "leafy", "lean", "level", "light",
    "likely", "lilac", "limber", "lively", "lofty", "lone", "long", "loud", "loyal", "lucid",
    "lucky", "lunar", "marble", "mellow", "merry", "mighty", "mild", "mint", "misty", "modern",
    "modest", "mossy", "native", "navy", "neat", "new", "nifty", "nimble", "noble", "open",
    "orange", "paper", "pastel", "patient", "pearly", "placid", "plain", "plucky", "polar",
    "polite", "prime", "proper", "proud", "pure", "quaint", "quick", "quiet", "rapid", "rare",
    "ready", "regal", "restful", "rich", "ripe", "rising", "robust", "rocky", "rosy", "round",
    "royal", "ruby", "rustic", "sable", "saffron", "sandy", "satin", "scarlet", "serene",
    "shady", "shiny", "short", "silent", "silken", "silver", "simple", "sincere", "slate",
    "sleek", "smart", "smooth", "snowy", "soft", "solar", "solid", "spring", "spry", "square",
    "starry", "steady", "still", "stout", "strong", "sturdy", "sunny", "super", "sure",
    "sweet", "swift", "tall", "tame", "tawny", "teal", "tender", "thorough", "tidy", "timely",
    "tiny", "topaz", "tough", "tranquil", "trim", "true", "trusty", "upper", "useful",
    "valiant", "vast", "velvet", "verdant", "vernal", "vivid", "warm", "wary", "wavy", "wide",
    "wild", "willing", "windy", "wise", "witty", "woody", "young", "zesty",
];

/// The second words of names.
#[rustfmt::skip]
const SECOND: [&str; 256] = [
    "acorn", "alder", "almond", "anchor", "antler", "apple", "apricot", "arch", "aspen",
    "aster", "attic", "badger", "bamboo", "banjo", "barley", "basil", "basin", "bay", "beacon",
    "beaver", "beech", "bell", "birch", "bison", "bloom", "bluff", "bobcat", "bonsai",
    "boulder", "bramble", "branch", "breeze", "bridge", "brook", "buffalo", "bunting", "cabin",
    "cactus", "camel", "canal", "candle", "canoe", "canyon", "caraway", "cardinal", "caribou",
    "carrot", "cashew", "castle", "cedar", "cello", "chalk", "chapel", "cherry", "chestnut",
    "cider", "cinder", "citrus", "cliff", "clover", "coast", "cobra", "comet", "compass",
    "condor", "copper", "cougar", "cove", "coyote", "crane", "crater", "creek", "cricket",
    "crow", "crystal", "cypress", "daisy", "dale", "dawn", "deer", "delta", "desert", "dingo",
    "dolphin", "dove", "dragon", "drum", "dune", "eagle", "ember", "ermine", "falcon", "fawn",
    "fern", "ferret", "fiddle", "field", "fig", "finch", "fir", "fjord", "flame", "flint",
    "flute", "forge", "fossil", "fox", "garden", "garnet", "gazelle", "gecko", "geyser",
    "ginger", "glacier", "glade", "goose", "gopher", "grape", "grove", "gull", "hamlet",
    "harbor", "hare", "harp", "hawk", "hazel", "heath", "hedge", "heron", "hickory", "hill",
    "holly", "honey", "horizon", "ibex", "inlet", "iris", "island", "ivy", "jaguar", "jasmine",
    "jay", "juniper", "kayak", "kelp", "kestrel", "kettle", "kiwi", "koala", "lagoon", "lake",
    "lantern", "larch", "lark", "laurel", "lemon", "lemur", "lentil", "leopard", "lily",
    "linden", "lion", "llama", "lobster", "lotus", "lynx", "magpie", "mango", "maple",
    "marlin", "marsh", "marten", "meadow", "melon", "mesa", "minnow", "moon", "moose", "moth",
    "mulberry", "nectar", "oak", "oasis", "ocean", "olive", "opal", "orchard", "orchid",
    "oriole", "osprey", "otter", "owl", "oyster", "palm", "panda", "panther", "papaya",
    "parrot", "peach", "peak", "pear", "pebble", "pecan", "pelican", "peony", "pepper",
    "pigeon", "pine", "planet", "plateau", "plover", "plum", "pond", "poplar", "poppy",
    "prairie", "puffin", "pumpkin", "quail", "quarry", "quartz", "quince", "rabbit", "raccoon",
    "raven", "reed", "ridge", "river", "robin", "rocket", "rose", "sage", "salmon", "sparrow",
    "spruce", "star", "stream", "summit", "swan", "sycamore", "thistle", "thrush", "tiger",
    "trout", "tulip", "turtle", "valley", "violet", "walnut", "walrus", "whale", "willow",
    "wolf", "wren", "yak", "zebra",
];

/// Returns the name of two words that these bytes choose, such as `brave-otter`. The words must not
/// change: two stores that fork with the same id must give the fork the same label.
pub(super) fn name(first: u8, second: u8) -> String {
    let word = |words: &[&'static str; 256], at: u8| words.get(usize::from(at)).copied();
    let words = [word(&FIRST, first), word(&SECOND, second)];
    words.map(Option::unwrap_or_default).join("-")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Label;

    #[test]
    fn every_name_is_a_label_of_its_own() {
        let words: HashSet<_> = FIRST.iter().chain(&SECOND).collect();
        assert_eq!(words.len(), 512);
        for byte in 0..=u8::MAX {
            name(byte, byte).parse::<Label>().unwrap();
        }
        assert_eq!((name(0, 0), name(255, 255)), ("airy-acorn".into(), "zesty-zebra".into()));
    }
}
