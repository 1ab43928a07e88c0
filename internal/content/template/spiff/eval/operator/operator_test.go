package operator_test

import (
	"testing"

	"go.landscaper.dev/test/language"
)

func bound() language.Language {
	return language.Language{Bindings: map[string]any{"text": "(( 1 ))", "nan": "nan"}}
}

func TestArithmetic(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"integers stay integers", `7 + 3 - 4 * 2`, `2`},
		{"division cuts towards zero", `[7 / 2, -7 / 2]`, `[3, -3]`},
		{"the remainder has the sign of the dividend", `[7 % 3, -7 % 3, 7 % -3]`, `[1, -1, 1]`},
		{"one float makes a float", `7 / 2.0`, `3.5`},
		{"an integral float stays a float", `1.5 + 1.5`, `3.0`},
		{"operators of a level from left to right", `10 - 3 - 2`, `5`},
		{"the smallest number divided by minus one", `(-9223372036854775808) / -1`, `-9223372036854775808`},
		{"the remainder of the smallest number divided by minus one", `(-9223372036854775808) % -1`, `0`},
		{"floats beyond their range", `1e308 * 10 == float("inf")`, `true`},
		{"an undefined operand makes all undefined", `(~~ + 1) || "gone"`, `gone`},
	})
	bound().Fails(t, []language.Row{
		{"division by zero", `1 / 0`, "division by zero"},
		{"division by a float of zero", `1 / 0.0`, "division by zero"},
		{"the remainder of a division by zero", `1 % 0`, "division by zero"},
		{"the remainder of floats", `1.5 % 1`, "% needs integers, not float and int"},
		{"a boolean is not a number", `true + 1`, "+ needs numbers"},
		{"nil is not a number", `1 - nil`, "- needs numbers"},
		{"a number as text is not a number", `1 + "1"`, "+ needs numbers (or an IP address or CIDR on the left), not int and string"},
		{"a list is not a number", `[1] * 2`, "* needs numbers"},
	})
}

func TestAddresses(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"an address and a number", `10.0.0.255 + 1`, `10.0.1.0`},
		{"two addresses", `"10.0.1.0" - "10.0.0.0"`, `256`},
		{"a network keeps its prefix", `"10.0.0.5/24" + 3`, `10.0.0.8/24`},
		{"the third network", `"10.0.0.0/24" * 3`, `10.0.3.0/24`},
		{"a part of a network", `"10.0.0.0/24" / 3`, `10.0.0.0/26`},
	})
	bound().Fails(t, []language.Row{
		{"an address has no remainder", `"10.0.0.1" % 2`, "% needs integers, not string and int"},
		{"two addresses are not added", `"10.0.0.1" + "10.0.0.2"`, "an integer is needed on the right of an address"},
		{"a float is no distance", `"10.0.0.1" + 1.0`, "an integer is needed on the right of an address"},
		{"a text that is not an address", `"ten" + 1`, `"ten" + 1: no IP address or CIDR`},
		{"out of the network", `"10.0.0.5/24" + 300`, "result is outside of the address range"},
		{"no parts", `"10.0.0.0/24" / 0`, "divisor must be a positive number"},
	})
}

func TestComparison(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"numbers of two kinds", `[1 < 1.5, 2.0 <= 2, 3 > 2.5, 2 >= 2.5]`, `[true, true, true, false]`},
		{"texts by bytes", `["B" < "a", "a" < "aa", "" <= ""]`, `[true, true, true]`},
		{"NaN compares with nothing", `( $n=float(nan) ) [n < 1, n > 1, n == n, n != n, 1 <= n]`, `[false, false, false, true, false]`},
		{"other left operands have no order, which is no error", `[nil < 1, true > false, [1] <= [1], {} >= {}]`, `[false, false, false, false]`},
		{"nil is nil only", `[nil == nil, nil == 0, nil != "", 0 == nil, "" == nil]`, `[true, false, true, false, false]`},
		{"the left side decides", `["1" == 1, 1 == "1", 1 == "one", true == "TRUE", "true" == true]`, `[true, true, false, true, true]`},
		{"lists and maps", `[[1, [2]] == [1, [2.0]], {"a"=[]} == {"a"=[]}, [1] == 1, {} == []]`, `[true, true, false, false]`},
		{"lambdas by their text", `[(|x|->x + 1) == (|x|->x  +  1), (|x|->x) == (|y|->y)]`, `[true, false]`},
		{"large integers keep their digits", `[9007199254740993 == 9007199254740992.0, 9007199254740992.0 == 9007199254740993]`, `[false, false]`},
	})
	bound().Fails(t, []language.Row{
		{"a text and a number have no order", `"1" < 2`, "types uncomparable: string < int"},
		{"a number and a text have no order", `1 >= "1"`, "types uncomparable: int >= string"},
		{"a number and nil have no order", `1 < nil`, "types uncomparable: int < nil"},
		{"a text and a list are no question", `"a" == []`, "types uncomparable: string == list"},
		{"a text and a float are no question", `"1.5" != 1.5`, "types uncomparable: string != float"},
	})
	language.Language{}.Renders(t, []language.Row{
		{"binary content is compared as text", "b: !!binary aGk=\nr:\n- (( b == \"hi\" ))\n- (( \"hi\" == b ))\n- (( b < \"ho\" ))\n- (( b ? 1 :2 ))\n- (( \"<\" b \">\" ))",
			"b: !!binary aGk=\nr: [true, true, true, 1, \"<hi>\"]"},
	})
}

func TestJoin(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"simple values are text", `"a" 1 true 1.5`, `a1true1.5`},
		{"numbers alone as well", `1 2`, `"12"`},
		{"text with a lambda", `"f: " (|x|->x)`, `"f: lambda|x|->x"`},
		{"lists", `[1] [2, [3]]`, `[1, 2, [3]]`},
		{"a list with nil stays", `[1] nil`, `[1]`},
		{"a list with anything else gets an entry", `[1] "a" 2 {"b"=3}`, `[1, a, 2, {b: 3}]`},
		{"maps, the right one wins as a whole", `{"a"={"x"=1}, "b"=1} {"a"={"y"=2}, "c"=3}`, `{a: {"y": 2}, b: 1, c: 3}`},
		{"a map with nil stays", `{"a"=1} nil`, `{a: 1}`},
		{"empty maps", `{} {}`, `{}`},
		{"what is undefined makes all undefined", `("a" ~~) || "gone"`, `gone`},
		{"text from outside stays data", `"(( " text " ))"`, `"(( (( 1 )) ))"`},
	})
	bound().Fails(t, []language.Row{
		{"nil on the left", `nil "a"`, "nil cannot be joined with a string"},
		{"text with nil", `"a" nil`, "a string cannot be joined with nil"},
		{"text with a list", `"a" [1]`, "a string cannot be joined with a list"},
		{"text with a map", `"a" {}`, "a string cannot be joined with a map"},
		{"a map with a list", `{} [1]`, "a map cannot be joined with a list"},
		{"a lambda on the left", `(|x|->x) "a"`, "a lambda cannot be joined with a string"},
	})
}

func TestLogic(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"truth of all kinds", `map[[false, nil, 0, "", [], {}, 0.0, "false", -1, [nil]]|x|->x ? 1 :0]`, `[0, 0, 0, 0, 0, 0, 1, 1, 1, 1]`},
		{"integers by bits", `[6 -and 3, 6 -or 3]`, `[2, 7]`},
		{"values that are not integers by truth", `["a" -and 1, nil -or 0, [] -or "b", 6 -and true]`, `[true, false, true, true]`},
		{"the left side decides alone", `[false -and nope, "a" -or nope]`, `[false, true]`},
		{"not", `[!nil, !0.0, !"", ! ! 5]`, `[true, false, true, true]`},
		{"only the chosen branch is evaluated", `[true ? 1 :nope, nil ? nope :2]`, `[1, 2]`},
		{"conditions behind each other", `0 ? 1 :"" ? 2 :3`, `3`},
		{"an undefined condition is no choice", `(~~ ? 1 :2) || 3`, `3`},
		{"alternatives take what is there, nil as well", `[nil || 1, nil // 1, false // 1, nope || nil]`, `[~, 1, false, ~]`},
		{"alternatives behind each other", `nope // nil // ~~ // "last"`, `last`},
		{"an alternative is not evaluated before it is needed", `1 || error("no")`, `1`},
	})
	bound().Fails(t, []language.Row{
		{"the right side is needed", `true -and nope`, "'nope' not found"},
		{"an integer needs both sides", `1 -or nope`, "'nope' not found"},
		{"a condition that fails", `nope ? 1 :2`, "'nope' not found"},
		{"all alternatives fail: the last, and why the first did", `nope || 1 / 0`, "division by zero\n\talternative failed: 'nope' not found"},
	})
}
