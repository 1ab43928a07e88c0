package function_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

type fields = map[string]any

func TestComparisons(t *testing.T) {
	gives(t, []row{
		{"numbers of two kinds", "eq", with(3, 3.0), true},
		{"one of several", "eq", with("a", "b", "a"), true},
		{"nil is nil", "eq", with(nil, nil), true},
		{"nil is not empty", "eq", with(nil, ""), false},
		{"texts by bytes", "lt", with("B", "a"), true},
		{"not equal", "ne", with(1, 2.5), true},
		{"at most", "le", with(2, 2.0), true},
		{"more", "gt", with(2.5, 2), true},
		{"a number in a list, whatever its kind", "has", with(1.0, []any{"1", 1}), true},
		{"in no list", "has", with(1, nil), false},
		{"in a list of texts", "has", with("b", []string{"a", "b"}), true},
		{"without numbers of any kind", "without", with([]any{1, 2.0, "2"}, 2), []any{1, "2"}},
		{"each once, in order", "uniq", with([]any{2, 1.0, 2.0, 1, nil, nil}), []any{2, 1.0, nil}},
		{"what is nested", "uniq", with([]any{[]any{1}, []any{1.0}, fields{"a": 1}, fields{"a": 1.0}}), []any{[]any{1}, fields{"a": 1}}},
		{"equal in depth", "deepEqual", with(fields{"a": []any{1, nil}}, fields{"a": []any{1.0, nil}}), true},
		{"another key", "deepEqual", with(fields{"a": 1}, fields{"b": 1}), false},
	})
	fails(t, []row{
		{"nothing to compare with", "eq", with(1), "missing argument for comparison"},
		{"text and number", "eq", with("s3cret", 1), "incompatible types for comparison: string and integer"},
		{"lists need another function", "eq", with([]any{1}, []any{1}), "non-comparable type list, use deepEqual"},
		{"no order without a value", "lt", with(nil, 1), "a value does not exist"},
		{"no order of text and number", "gt", with("s3cret", 1), "incompatible types for comparison"},
		{"too many arguments", "lt", with(1, 2, 3), "wrong number of args for lt: want 2 got 3"},
		{"a text is not a list", "uniq", with("s3cret"), "a list is needed, not string"},
		{"nil is not a list", "without", with(nil, 1), "a list is needed, not nil"},
		{"a map is not a list", "has", with(1, fields{}), "a list is needed, not map"},
	})
}

func TestIndex(t *testing.T) {
	gives(t, []row{
		{"no step is the value", "index", with(7), 7},
		{"steps into maps and lists", "index", with(fields{"a": []any{1, fields{"b": 2}}}, "a", 1, "b"), 2},
		{"a position as float", "index", with([]any{1, 2}, 1.0), 2},
		{"a key that is missing", "index", with(fields{}, "a"), nil},
		{"a byte of a text", "index", with("abc", 1), byte('b')},
		{"a list of texts", "index", with([]string{"a", "b"}, 1), "b"},
		{"a length", "len", with("ä"), 2},
		{"the length of a file", "len", with(operand.File("abc")), 3},
		{"the length of a map", "len", with(fields{"a": 1}), 1},
	})
	fails(t, []row{
		{"behind the end", "index", with([]any{"s3cret"}, 1), "index out of range"},
		{"before the start", "index", with([]any{"s3cret"}, -1), "index out of range"},
		{"a fraction", "index", with([]any{1}, 0.5), "cannot index a list with a value of type number"},
		{"a text as position", "index", with([]any{1}, "s3cret"), "cannot index a list with a value of type string"},
		{"a number as key", "index", with(fields{"1": 1}, 1), "cannot index a map with a value of type integer"},
		{"into nothing", "index", with(nil, "a"), "index of a value that does not exist"},
		{"into a number", "index", with(1, "a"), "cannot index a value of type integer"},
		{"a step behind a missing one", "index", with(fields{}, "a", "b"), "index of a value that does not exist"},
		{"the length of a number", "len", with(1), "len of type integer"},
		{"the length of nothing", "len", with(nil), "len of type nil"},
	})
}

func TestPrintf(t *testing.T) {
	gives(t, []row{
		{"a float that is integral as integer", "printf", with("%d", 3.0), "3"},
		{"an integer as float", "printf", with("%.1f", 3), "3.0"},
		{"a large number has no exponent", "printf", with("%v", 1e15), "1000000000000000"},
		{"a fraction stays one", "printf", with("%v", 1.5), "1.5"},
		{"a width from an argument", "printf", with("%*d|", 5, 3), "    3|"},
		{"arguments by number", "printf", with("%[2]s%[1]s", "a", "b"), "ba"},
		{"a percent sign", "printf", with("100%%"), "100%"},
		{"an argument too few", "printf", with("%d"), "%!d(MISSING)"},
		{"an argument too many", "printf", with("x", 1), "x%!(EXTRA function.formatted=1)"},
		{"a number beyond the range of floats", "printf", with("%.0f", json.Number("1e30")), "1" + strings.Repeat("0", 30)},
		{"a number with a hundred digits as integer", "printf", with("%d", json.Number(strings.Repeat("9", 100))), strings.Repeat("9", 100)},
		{"a short number with many digits", "printf", with("%v", json.Number("1e900")), "1e900"},
		{"printed with blanks between numbers", "print", with(1e6, 2), "1000000 2"},
		{"a line", "println", with("a", 1), "a 1\n"},
	})
}

func TestTextAndLists(t *testing.T) {
	gives(t, []row{
		{"an empty text many times", "repeat", with(1<<40, ""), ""},
		{"a text no times", "repeat", with(0, "a"), ""},
		{"a number where a float is", "until", with(3.0), []int{0, 1, 2}},
		{"up", "untilStep", with(0, 5, 2), []int{0, 2, 4}},
		{"with no step", "untilStep", with(0, 5, 0), []int{}},
		{"numbers are joined as digits", "join", with("-", []any{1e6, 1, "a"}), "1000000-1-a"},
		{"quotes around digits", "quote", with(1e6), `"1000000"`},
		{"text of a large float", "toString", with(1e15), "1000000000000000"},
		{"indented", "nindent", with(2, "a\nb"), "\n  a\n  b"},
		{"a file as text", "trim", with(operand.File(" a ")), "a"},
		{"a default for nothing", "default", with("d", ""), "d"},
		{"the first that is not empty", "coalesce", with(nil, 0, "", "a"), "a"},
		{"a list without what is empty", "compact", with([]any{0, "a", "", nil}), []any{"a"}},
		{"a path into maps", "dig", with("a", "b", "none", fields{"a": fields{"b": 1}}), 1},
	})
	fails(t, []row{
		{"a text a negative number of times", "repeat", with(-1, "s3cret"), "the arguments do not fit"},
		{"a negative indentation", "indent", with(-1, "s3cret"), "the arguments do not fit"},
		{"a negative random text", "randBytes", with(-1), "len out of range"},
		{"chunks of nothing", "chunk", with(0, []any{"s3cret"}), ""},
		{"a number is not a list", "first", with(1), "list"},
		{"a text is not a number", "until", with("s3cret"), "wrong type for value 1; expected integer; got string"},
		{"a fraction is not a number of times", "repeat", with(1.5, "a"), "wrong type for value 1; expected integer; got number"},
		{"nil is not a string", "upper", with(nil), "wrong type for value 1; expected string; got nil"},
		{"no version", "semver", with("s3cret"), "the argument is not a semantic version"},
		{"no version constraint", "semverCompare", with("s3cret", "1"), "the arguments are not a version constraint and a semantic version"},
		{"no path", "dig", with("s3cret"), ""},
		{"the parts of no URL", "urlParse", with("http://s3cret\x00"), "the text is not a URL"},
	})
}

func TestDates(t *testing.T) {
	noon := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	gives(t, []row{
		{"seconds since 1970", "date", with("2006-01-02 15:04:05 MST", 86400), "1970-01-02 00:00:00 UTC"},
		{"seconds as float", "htmlDate", with(86400.0), "1970-01-02"},
		{"a time", "date", with(time.RFC3339, noon), "2031-05-06T12:00:00Z"},
		{"a pointer to a time", "date", with(time.RFC3339, &noon), "2031-05-06T12:00:00Z"},
		{"another zone", "dateInZone", with("15:04", noon, "Asia/Tokyo"), "21:00"},
		{"an unknown zone is UTC", "dateInZone", with("15:04", noon, "Nowhere/Land"), "12:00"},
		{"the zone of the machine is UTC", "date_in_zone", with("15:04 MST", noon, "Local"), "12:00 UTC"},
		{"a date of a zone", "htmlDateInZone", with(noon, "Pacific/Kiritimati"), "2031-05-07"},
		{"a text as date", "toDate", with("2006-01-02", "2031-05-06"), noon.Add(-12 * time.Hour)},
		{"an invalid date gives the zero time", "toDate", with("2006-01-02", "s3cret"), time.Time{}},
	})
	fails(t, []row{
		{"an invalid date", "mustToDate", with("2006-01-02", "s3cret"), "the text is not a date of this layout"},
		{"an invalid duration", "mustDateModify", with("s3cret", noon), "the text is not a duration such as -1.5h"},
	})
}

func TestEncoding(t *testing.T) {
	value := fields{"b": []any{1, nil, "<a>"}, "a": 1.5}
	gives(t, []row{
		{"YAML with sorted keys and no line break at its end", "toYaml", with(value), "a: 1.5\nb:\n- 1\n- null\n- <a>"},
		{"YAML of nothing", "toYaml", with(nil), "null"},
		{"JSON that HTML may hold", "toJson", with(value), `{"a":1.5,"b":[1,null,"\u003ca\u003e"]}`},
		{"JSON as it is", "toRawJson", with("<a>"), `"<a>"`},
		{"JSON for people", "toPrettyJson", with([]any{1}), "[\n  1\n]"},
		{"YAML with integers as such", "fromYaml", with("a: [1, 1.5, yes]"), fields{"a": []any{1, 1.5, true}}},
		{"JSON with integers as such", "fromJson", with(`{"a": [1, 1.5, 2.0]}`), fields{"a": []any{1, 1.5, 2.0}}},
		{"what is no JSON gives nothing", "fromJson", with("{"), nil},
		{"a large integer keeps its digits", "fromJson", with("9007199254740993"), 9007199254740993},
		{"no YAML is nothing", "fromYaml", with(""), nil},
	})
	loop := fields{}
	loop["self"] = loop
	fails(t, []row{
		{"what is no JSON", "mustFromJson", with(`{"s3cret"`), "the text is not JSON"},
		{"what is no YAML", "fromYaml", with("{s3cret"), "the text is not YAML"},
		{"a value that contains itself", "toYaml", with(loop), "levels deep"},
		{"a value that contains itself as JSON", "toJson", with(loop), "the value cannot be written as JSON"},
		{"no number", "toJson", with(math.NaN()), "the value cannot be written as JSON"},
		{"a number is not a string", "fromYaml", with(1), "wrong type for value 1; expected string; got integer"},
	})
}

func TestRegularExpressions(t *testing.T) {
	gives(t, []row{
		{"a match", "regexMatch", with("^a+$", "aa"), true},
		{"a broken one matches nothing", "regexMatch", with("(", "("), false},
		{"all", "regexFindAll", with("a.", "a1a2a3", -1), []string{"a1", "a2", "a3"}},
		{"some", "regexFindAll", with("a.", "a1a2a3", 2), []string{"a1", "a2"}},
		{"none wanted", "regexFindAll", with("a.", "a1", 0), []string(nil)},
		{"the first", "regexFind", with("a.", "xa1a2"), "a1"},
		{"no first", "regexFind", with("b", "a"), ""},
		{"groups", "regexReplaceAll", with("(a)(b)", "abab", "$2$1"), "baba"},
		{"no groups", "regexReplaceAllLiteral", with("a", "aa", "$0"), "$0$0"},
		{"split", "regexSplit", with(",+", "a,,b,c", 2), []string{"a", "b,c"}},
		{"at every character", "regexReplaceAll", with("", "äb", "-"), "-ä-b-"},
	})
	fails(t, []row{
		{"a broken one says what is wrong, not the expression", "mustRegexMatch", with("(s3cret", "a"), "the regular expression is not valid (missing closing )): use the syntax of RE2"},
		{"a huge one", "regexFind", with("((s{1,100}){1,100}){1,10}", "a"), "the regular expression is"},
		{"a long one", "regexFind", with(strings.Repeat("s3cret", 2000), "a"), "the regular expression is longer than 10000 bytes: use a shorter one"},
	})
}

func TestKinds(t *testing.T) {
	gives(t, []row{
		{"an integer is what every number is elsewhere", "kindOf", with(1), "float64"},
		{"an integer answers to its own kind", "kindIs", with("int", 1), true},
		{"an integer answers to the type float64", "typeIs", with("float64", 1), true},
		{"a float is no integer", "typeIs", with("int", 1.5), false},
		{"a map", "kindOf", with(fields{}), "map"},
		{"nothing", "kindOf", with(nil), "invalid"},
		{"a file is bytes", "typeOf", with(operand.File("a")), "[]uint8"},
		{"like a type", "typeIsLike", with("string", "a"), true},
	})
}
