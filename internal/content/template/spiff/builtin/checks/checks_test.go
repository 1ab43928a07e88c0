package checks_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

// passes turns rows of a value, a check and "true" or "false" into calls of check().
func passes(t *testing.T, rows [][4]string) {
	t.Helper()
	calls := make([]language.Row, len(rows))
	for i, row := range rows {
		calls[i] = language.Row{row[0], "check(" + row[1] + ", " + row[2] + ")", row[3]}
	}
	language.Language{}.Gives(t, calls)
}

func TestValueChecks(t *testing.T) {
	passes(t, [][4]string{
		{"an empty text", `""`, `"empty"`, `true`},
		{"an empty list", `[]`, `"empty"`, `true`},
		{"an empty map", `{}`, `"empty"`, `true`},
		{"a list of nil is not empty", `[nil]`, `"empty"`, `false`},
		{"a type among several", `1.5`, `["type", "int", "float"]`, `true`},
		{"a type that is not among them", `nil`, `["type", "int", "float"]`, `false`},
		{"nil has a type", `nil`, `["type", "nil"]`, `true`},
		{"a lambda has a type", `(|x|->x)`, `["type", "lambda"]`, `true`},
		{"an equal value", `[1, "a"]`, `["value", [1, "a"]]`, `true`},
		{"the sign for an equal value", `1`, `["=", 1]`, `true`},
		{"the sign for another value", `1`, `["!=", 2]`, `true`},
		{"the sign for another value, which it is not", `1`, `["!=", 1]`, `false`},
		{"types that cannot be compared are not equal", `"a"`, `["=", []]`, `false`},
		{"a member of a set", `2`, `["valueset", [1, 2]]`, `true`},
		{"no member of a set", `3`, `["valueset", [1, 2]]`, `false`},
		{"a set of what cannot be compared", `"a"`, `["valueset", [[], {}, "a"]]`, `true`},
		{"an empty set has no members", `nil`, `["valueset", []]`, `false`},
		{"nothing to check passes", `1`, `nil`, `true`},
	})
}

func TestOrderChecks(t *testing.T) {
	passes(t, [][4]string{
		{"greater", `2`, `["gt", 1]`, `true`},
		{"not greater than itself", `2`, `[">", 2]`, `false`},
		{"greater or equal", `2`, `[">=", 2]`, `true`},
		{"less", `1.5`, `["<", 2]`, `true`},
		{"not less than itself", `1`, `["lt", 1]`, `false`},
		{"less or equal", `1`, `["le", 1.0]`, `true`},
		{"texts by bytes", `"a"`, `[">", "B"]`, `true`},
		{"no digit of a large number is lost", `9007199254740993`, `[">", 9007199254740992]`, `true`},
		{"no digit is lost against a float", `9007199254740993`, `[">", 9007199254740992.0]`, `true`},
		{"NaN is not greater", `float("nan")`, `[">=", 1]`, `false`},
		{"no number is less than NaN", `1`, `["<=", float("nan")]`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text against a number", `check("1", [">", 1])`, "a string cannot be compared with an int"},
		{"a number against a text", `check(1, [">", "1"])`, "an int cannot be compared with a string"},
		{"nil has no order", `check(nil, [">", 1])`, "nil cannot be compared with an int"},
		{"lists have no order", `check([1], ["<", [2]])`, "a list cannot be compared with a list"},
		{"a bound is needed", `check(1, ">")`, "wrong number of arguments"},
		{"one bound only", `check(1, [">", 1, 2])`, "wrong number of arguments"},
	})
}

func TestTextChecks(t *testing.T) {
	label := strings.Repeat("a", 63)
	domain := strings.Repeat("a.", 126) + "a"
	passes(t, [][4]string{
		{"a pattern matches somewhere", `"xaby"`, `["match", "ab"]`, `true`},
		{"the sign for a pattern", `"xay"`, `["~=", "^a"]`, `false`},
		{"a label", `"db-1"`, `"dnslabel"`, `true`},
		{"a label of 63 characters", `"` + label + `"`, `"dnslabel"`, `true`},
		{"a label of 64 characters", `"` + label + `a"`, `"dnslabel"`, `false`},
		{"a label may be a digit", `"1"`, `"dnslabel"`, `true`},
		{"a label in upper case", `"Db"`, `"dnslabel"`, `false`},
		{"a label that begins with a hyphen", `"-a"`, `"dnslabel"`, `false`},
		{"a label that ends with a hyphen", `"a-"`, `"dnslabel"`, `false`},
		{"a label with a line break at its end", `"a\n"`, `"dnslabel"`, `false`},
		{"an empty label", `""`, `"dnslabel"`, `false`},
		{"a label outside of ASCII", `"ä"`, `"dnslabel"`, `false`},
		{"a domain", `"a.b-c.d"`, `"dnsdomain"`, `true`},
		{"a domain of 253 characters", `"` + domain + `"`, `"dnsdomain"`, `true`},
		{"a domain of 255 characters", `"` + domain + `.a"`, `"dnsdomain"`, `false`},
		{"a domain with an empty part", `"a..b"`, `"dnsdomain"`, `false`},
		{"a domain with the dot of the root", `"a.b."`, `"dnsdomain"`, `false`},
		{"a wildcard is no domain", `"*.a"`, `"dnsdomain"`, `false`},
		{"a wildcard", `"*.a.b"`, `"wildcarddnsdomain"`, `true`},
		{"a wildcard in the middle", `"a.*.b"`, `"wildcarddnsdomain"`, `false`},
		{"a wildcard alone", `"*"`, `"wildcarddnsdomain"`, `false`},
		{"a domain is no wildcard", `"a.b"`, `"wildcarddnsdomain"`, `false`},
		{"a name may be either", `"*.a"`, `"dnsname"`, `true`},
		{"a name may be a domain", `"a"`, `"dnsname"`, `true`},
		{"an address", `"10.0.0.1"`, `"ip"`, `true`},
		{"an address of the sixth version", `"::1"`, `"ip"`, `true`},
		{"an address with a zone is one of a machine", `"fe80::1%eth0"`, `"ip"`, `false`},
		{"an address with leading zeros", `"10.0.0.01"`, `"ip"`, `false`},
		{"a network is not an address", `"10.0.0.0/8"`, `"ip"`, `false`},
		{"a network", `"10.0.0.1/8"`, `"cidr"`, `true`},
		{"a prefix that is too long", `"10.0.0.0/33"`, `"cidr"`, `false`},
		{"an address is not a network", `"10.0.0.1"`, `"cidr"`, `false`},
		{"a version", `"1.2.3"`, `"semver"`, `true`},
		{"a version that meets all constraints", `"1.2.3"`, `["semver", "^1", ">1.1"]`, `true`},
		{"a version that meets one of two", `"1.2.3"`, `["semver", "^1", "<1"]`, `false`},
		{"no version", `"x"`, `["semver", "^1"]`, `false`},
		{"a text is not a private key", `"x"`, `"privatekey"`, `false`},
		{"an empty text is not a certificate", `""`, `"certificate"`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a number is no label", `check(1, "dnslabel")`, "dns label must be a string, not an int"},
		{"nil is not an address", `check(nil, "ip")`, "ip address must be a string, not nil"},
		{"a list is not a version", `check([], "semver")`, "a version must be a string, not a list"},
		{"an invalid constraint", `check("1.0.0", ["semver", "?"])`, "is not a version constraint"},
		{"a pattern needs a text", `check(1, ["match", "1"])`, "match needs strings, not an int and a string"},
		{"a pattern is a text", `check("1", ["match", 1])`, "match needs strings, not a string and an int"},
		{"a broken pattern", `check("1", ["match", "("])`, "invalid regular expression"},
		{"only what has a length can be empty", `check(1, "empty")`, "empty does not work for an int"},
	})
}

func TestChecksOfParts(t *testing.T) {
	passes(t, [][4]string{
		{"a list", `[]`, `"list"`, `true`},
		{"every entry passes every check", `[2, 3]`, `["list", [">", 1], ["<", 4]]`, `true`},
		{"one of several entries does not pass", `[2, 5]`, `["list", [">", 1], ["<", 4]]`, `false`},
		{"a map is not a list", `{}`, `"list"`, `false`},
		{"a map", `{}`, `"map"`, `true`},
		{"every value", `{"a"=1, "b"=2}`, `["map", ["type", "int"]]`, `true`},
		{"keys and values", `{"a"=1}`, `["map", "dnslabel", ["type", "int"]]`, `true`},
		{"a key that does not pass", `{"A"=1}`, `["map", "dnslabel", ["type", "int"]]`, `false`},
		{"a list is not a map", `[]`, `["map", "ip"]`, `false`},
		{"a field is there", `{"a"=nil}`, `["mapfield", "a"]`, `true`},
		{"a field is not there", `{}`, `["mapfield", "a"]`, `false`},
		{"a field that passes", `{"a"=1}`, `["mapfield", "a", [">", 0]]`, `true`},
		{"a field that does not", `{"a"=0}`, `["mapfield", "a", [">", 0]]`, `false`},
		{"a field may be missing", `{}`, `["optionalfield", "a", [">", 0]]`, `true`},
		{"an optional field that exists has to pass", `{"a"=0}`, `["optionalfield", "a", [">", 0]]`, `false`},
		{"a list has no fields", `[]`, `["optionalfield", "a"]`, `false`},
		{"checks inside of checks", `{"a"=[{"b"="x"}]}`, `["mapfield", "a", ["list", ["mapfield", "b", "dnslabel"]]]`, `true`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a problem in an entry is told with its position", `check(["a", 1], ["list", "dnslabel"])`, "list entry 1: dns label must be a string"},
		{"a problem in a field is told with its name", `check({"a"=1}, ["mapfield", "a", "ip"])`, `map entry "a": ip address must be a string`},
		{"a problem in a value of a map", `check({"a"=1}, ["map", "ip"])`, `map entry "a": ip address must be a string`},
		{"three checks for a map", `check({}, ["map", nil, nil, nil])`, "wrong number of arguments"},
		{"a field without a name", `check({}, "mapfield")`, "wrong number of arguments"},
		{"a field by a number", `check({}, ["mapfield", 1])`, "field name must be a string"},
	})
}

func TestCombinations(t *testing.T) {
	passes(t, [][4]string{
		{"and: all of several", `5`, `["and", [">", 1], ["<", 9]]`, `true`},
		{"and: not all of several", `10`, `["and", [">", 1], ["<", 9]]`, `false`},
		{"or: one of several", `10`, `["or", ["<", 1], [">", 9]]`, `true`},
		{"none of several", `5`, `["or", ["<", 1], [">", 9]]`, `false`},
		{"none of nothing", `5`, `"or"`, `false`},
		{"and: all of no checks", `5`, `"and"`, `true`},
		{"not: one check that fails", `5`, `["not", ["<", 1]]`, `true`},
		{"not: several checks of which one fails", `5`, `["not", [">", 1], ["<", 1]]`, `true`},
		{"not: several checks that all pass", `5`, `["not", [">", 1], ["<", 9]]`, `false`},
		{"the sign in front of a name", `"a"`, `"!empty"`, `true`},
		{"the sign in front of a list", `5`, `["!", ["<", 1]]`, `true`},
		{"twice not", `""`, `"!!empty"`, `true`},
		{"a name with arguments", `5`, `["!>", 9]`, `true`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"not: no checks at all", `check(1, "not")`, "wrong number of arguments"},
		{"a problem stays one behind a not", `check(1, "!ip")`, "condition 1 has problem: ip address must be a string"},
		{"an unknown check names the known ones", `check(1, "ipp")`, `unknown check "ipp", known are empty, type`},
		{"an unknown one behind a not", `check(1, "!nope")`, `unknown check "nope"`},
		{"an empty list", `check(1, [])`, "check is an empty list"},
		{"a number is no check", `check(1, 1)`, "a check must be a name, a lambda or a list, not an int"},
		{"a map is no check", `check(1, {})`, "a check must be a name, a lambda or a list, not a map"},
		{"the message names the condition among several", `check(1, nil, "nope")`, "condition 2 has problem"},
	})
}

func TestLambdaChecks(t *testing.T) {
	passes(t, [][4]string{
		{"what it gives is its truth", `3`, `|x|->x % 2`, `true`},
		{"0 is false", `4`, `|x|->x % 2`, `false`},
		{"extra arguments", `3`, `[|x,y|->x == y, 3]`, `true`},
		{"a list with the truth", `3`, `|x|->[false]`, `false`},
		{"a list with messages", `3`, `|x|->[true, "good", "bad"]`, `true`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"one message serves both outcomes", `validate(3, |x|->[false, "is odd"])`, "condition 1 failed: is odd"},
		{"the second message is for failure", `validate(3, |x|->[false, "good", "bad"])`, "condition 1 failed: bad"},
		{"behind a not the first message is what is wrong", `validate(3, ["not", |x|->[true, "good", "bad"]])`, "condition 1 failed: good"},
		{"a condition without a message is named", `validate(3, |x|->x == 4)`, "lambda|x|->x == 4 failed"},
		{"an empty list is no verdict", `check(3, |x|->[])`, "must give a truth value or a list of 1 to 3 entries"},
		{"four entries are no verdict", `check(3, |x|->[1, "a", "b", "c"])`, "must give a truth value or a list of 1 to 3 entries"},
		{"a message is a text", `check(3, |x|->[true, 1])`, "messages of a check must be strings"},
		{"too few parameters", `check(3, [|x|->x, 1])`, "takes 1 to 1 arguments, but gets 2"},
		{"too many parameters", `check(3, |x,y|->x)`, "takes 2 to 2 arguments, but gets 1"},
		{"a lambda that fails is a problem", `check(3, |x|->error("no"))`, "condition 1 has problem: no"},
	})
}

func TestValidate(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the value comes back as it is", `validate({"a"=[1]}, "map").a[0]`, `1`},
		{"no checks at all", `validate(~)`, `~`},
		{"a failure can be caught", `validate(1, [">", 2]) || "small"`, `small`},
		{"check joins all conditions", `check(1, [">", 0], [">", 2])`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"the first condition that fails is named", `validate(1, [">", 0], [">", 2], [">", 3])`, "condition 2 failed: is less than or equal to 2"},
		{"all reasons of an or", `validate(5, ["or", ["<", 1], [">", 9]])`, "(is greater than or equal to 1 and is less than or equal to 9)"},
		{"what is no label", `validate("A", "dnslabel")`, "condition 1 failed: is no dns label"},
		{"the message names the entry", `validate([1, 0], ["list", [">", 0]])`, "list entry 1 is less than or equal to 0"},
		{"the message names the wanted types", `validate(1, ["type", "string", "list"])`, "is not of type string or list"},
		{"a value is needed", `validate()`, "takes at least 1 argument"},
	})
	language.Language{
		Config:   spiff.Config{Sensitive: true},
		Bindings: map[string]any{"secret": "s3cret", "map": map[string]any{"k3y": 1}},
	}.Fails(t, []language.Row{
		{"a bound value stays out of the message", `validate(secret, ["=", "x"])`, "invalid value <string>\n"},
		{"a secret as the bound of a check is hidden", `validate("a", ["<", secret], [">", secret])`, "<string>\n"},
		{"a secret as a key is hidden", `validate(map, ["map", "ip", nil])`, "map key <string> is no ip address\n"},
		{"a secret in a message of a lambda is hidden", `validate(secret, |x|->[false, "bad " x])`, "condition 1 failed: <string>\n"},
	})
}
