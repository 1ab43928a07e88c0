package number

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestLiterals has numbers as texts, and what each rule makes of them.
func TestLiterals(t *testing.T) {
	tests := []struct {
		reason  string
		literal json.Number
		// value is what Of gives, rounded what Rounded gives.
		value, rounded any
		short          bool
	}{
		{"an integer", "12", int64(12), json.Number("12"), true},
		{"a zero has no sign", "-0", int64(0), json.Number("-0"), true},
		{"beyond 2^53 floats have gaps, integers have none", "9007199254740993", int64(9007199254740993), json.Number("9007199254740993"), true},
		{"the largest of 64 bits", "9223372036854775807", int64(math.MaxInt64), json.Number("9223372036854775807"), true},
		{"the smallest", "-9223372036854775808", int64(math.MinInt64), json.Number("-9223372036854775808"), true},
		{"the first number beyond an int64 keeps its digits", "9223372036854775808", json.Number("9223372036854775808"), json.Number("9223372036854775808"), true},
		{"a point makes a float", "1.0", 1.0, 1.0, true},
		{"an exponent as well", "1e3", 1000.0, 1000.0, true},
		{"in both cases", "1E3", 1000.0, 1000.0, true},
		{"a fraction", "0.1", 0.1, 0.1, true},
		{"digits that no float has are rounded", "0.1000000000000000055511151231257827", 0.1, 0.1, true},
		{"the largest float", "1.7976931348623157e308", math.MaxFloat64, math.MaxFloat64, true},
		{"no float is as large, so it stays", "1e400", json.Number("1e400"), json.Number("1e400"), true},
		{"less than any float is nothing", "1e-400", 0.0, 0.0, true},
		{"an exponent of many digits is a number of many zeros", "1e1001", json.Number("1e1001"), json.Number("1e1001"), false},
		{"behind the point as well", "1e-1001", 0.0, 0.0, false},
		{"an exponent that is no int", "1e99999999999999999999", json.Number("1e99999999999999999999"), json.Number("1e99999999999999999999"), false},
		{"as many digits as there may be", json.Number(strings.Repeat("1", MaxDigits)), json.Number(strings.Repeat("1", MaxDigits)), json.Number(strings.Repeat("1", MaxDigits)), true},
		{"one digit too many", json.Number(strings.Repeat("1", MaxDigits+1)), json.Number(strings.Repeat("1", MaxDigits+1)), json.Number(strings.Repeat("1", MaxDigits+1)), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Of(test.literal); got != test.value {
				t.Errorf("Of gives %#v, want %#v", got, test.value)
			}
			if got := Rounded(test.literal); got != test.rounded {
				t.Errorf("Rounded gives %#v, want %#v", got, test.rounded)
			}
			if got := IsShort(test.literal); got != test.short {
				t.Errorf("IsShort is %t", got)
			}
			_, stays := test.rounded.(json.Number)
			if IsInteger(test.literal) && !stays {
				t.Error("an integer is rounded")
			}
		})
	}
}

// TestFloats has floats, and as what each rule takes and writes them.
func TestFloats(t *testing.T) {
	type is struct {
		whole, certain     bool
		short, plain, yaml string
		distinct           json.Number
	}
	inf := math.Inf(1)
	tests := []struct {
		reason string
		float  float64
		want   is
	}{
		{"without a fraction", 3, is{true, true, "3", "3", "3", "3.0"}},
		{"with a fraction", 0.5, is{false, false, "0.5", "0.5", "0.5", ""}},
		{"nothing", 0, is{true, true, "0", "0", "0", "0.0"}},
		{"below nothing", -2, is{true, true, "-2", "-2", "-2", "-2.0"}},
		{"a million: an exponent is shorter only from 1e21", 1e6, is{true, true, "1e+06", "1000000", "1.0e+06", "1000000.0"}},
		{"a fraction with an exponent has a point", 1.5e-7, is{false, false, "1.5e-07", "0.00000015", "1.5e-07", ""}},
		{"the last that is certain", 1<<53 - 1, is{true, true, "9.007199254740991e+15", "9007199254740991", "9.007199254740991e+15", "9007199254740991.0"}},
		{"from here on it may have been another integer", 1 << 53, is{true, false, "9.007199254740992e+15", "9007199254740992", "9.007199254740992e+15", "9007199254740992.0"}},
		{"the smallest of 64 bits", -1 << 63, is{true, false, "-9.223372036854776e+18", "-9223372036854776000", "-9.223372036854776e+18", "-9223372036854775808.0"}},
		{"the next float below -2^63", -9223372036854777856, is{false, false, "-9.223372036854778e+18", "-9223372036854778000", "-9.223372036854778e+18", "-9223372036854777856.0"}},
		{"the largest of 64 bits is no float, the next one does not fit", 1 << 63, is{false, false, "9.223372036854776e+18", "9223372036854776000", "9.223372036854776e+18", "9223372036854775808.0"}},
		{"from here on JSON has an exponent anyway", 1e21, is{false, false, "1e+21", "1000000000000000000000", "1.0e+21", ""}},
		{"infinite", inf, is{false, false, "+Inf", "+Inf", ".inf", ""}},
		{"infinite below", -inf, is{false, false, "-Inf", "-Inf", "-.inf", ""}},
		{"no number", math.NaN(), is{false, false, "NaN", "NaN", ".nan", ""}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got is
			var whole, certain int64
			whole, got.whole = Whole(test.float)
			certain, got.certain = Certain(test.float)
			got.short, got.plain, got.yaml = Short(test.float), Plain(test.float), YAML(test.float)
			got.distinct, _ = Distinct(test.float)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if got.whole && float64(whole) != test.float || got.certain && certain != whole {
				t.Errorf("as integers: %d and %d", whole, certain)
			}
		})
	}
}

func TestSame(t *testing.T) {
	tests := []struct {
		reason string
		a, b   json.Number
		want   bool
	}{
		{"one text", "12", "12", true},
		{"a point changes nothing", "1", "1.0", true},
		{"an exponent changes nothing", "1000", "1e3", true},
		{"another integer", "12", "13", false},
		{"a zero has no sign: an API server answers without it", "-0", "0", true},
		{"integers keep digits that floats lose", "9007199254740992", "9007199254740993", false},
		{"beyond 64 bits an API server answers with a float", "123456789012345678901234567890", "1.2345678901234568e+29", true},
		{"two integers with the same float are the same to an API server", "9223372036854775808", "9223372036854775809", true},
		{"a float and the integer next to it as well", "9007199254740993", "9007199254740992.0", true},
		{"what no float can hold", "1e400", "1e401", false},
		{"a number beyond floats equals itself", "1e400", "1e400", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if Same(test.a, test.b) != test.want || Same(test.b, test.a) != test.want {
				t.Errorf("got %t, and %t the other way round", Same(test.a, test.b), Same(test.b, test.a))
			}
		})
	}
}

func TestCompare(t *testing.T) {
	tests := []struct {
		reason string
		i      int64
		f      float64
		want   int
	}{
		{"two equal integers", 3, 3, 0},
		{"less", 3, 3.5, -1},
		{"more", 3, 2.5, 1},
		{"below nothing a fraction goes the other way", -3, -3.5, 1},
		{"as floats they would be the same", 9007199254740993, 9007199254740992, 1},
		{"the largest is less than 2^63", math.MaxInt64, 1 << 63, -1},
		{"the smallest is -2^63", math.MinInt64, -1 << 63, 0},
		{"the smallest is more than what is below", math.MinInt64, -1 << 64, 1},
		{"infinite", 1, math.Inf(-1), 1},
		{"no number has no order", 0, math.NaN(), 2},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Compare(test.i, test.f); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestBig(t *testing.T) {
	tests := []struct {
		reason  string
		literal json.Number
		want    string
	}{
		{"all digits", "123456789012345678901234567890", "1.2345678901234567890123456789e+29"},
		{"a fraction", "0.5", "0.5"},
		{"what no float can hold", "1e400", "1e+400"},
		{"digits beyond the limit do not count, but their places", json.Number("1" + strings.Repeat("0", MaxDigits+5)), "1e+1005"},
		{"a fraction that is longer is refused", json.Number("0." + strings.Repeat("1", MaxDigits)), ""},
		{"no number", "abc", ""},
		{"nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, ok := Big(test.literal)
			if ok != (test.want != "") || ok && fmt.Sprint(got) != test.want {
				t.Errorf("got %v, %t", got, ok)
			}
		})
	}
}

// FuzzRoundTrip reads a JSON number, writes it and reads it again.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{"1", "-0", "1.0", "1e3", "9007199254740993", "1e400", "5e-324", "123456789012345678901234567890"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal := json.Number(text)
		if _, err := json.Marshal(literal); err != nil || text == "" {
			return // no number of JSON
		}
		value := Of(literal)
		written := value
		if float, isFloat := value.(float64); isFloat {
			if distinct, needed := Distinct(float); needed {
				written = distinct
			}
		}
		raw, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		if again := json.Number(raw); !Same(literal, again) {
			t.Errorf("%s becomes %s", literal, again)
		}
		if float, isFloat := value.(float64); isFloat && Of(json.Number(raw)) != value {
			t.Errorf("%v becomes %#v", float, Of(json.Number(raw)))
		}
	})
}
