package number

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Short writes a float in the fewest digits that are read as the same float, with an
// exponent where that is shorter.
func Short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// Plain is Short without an exponent.
func Plain(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Short(f)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// YAML is Short in the words of YAML 1.1, which wants a point before an exponent.
func YAML(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	text := Short(f)
	if strings.Contains(text, "e") && !strings.Contains(text, ".") {
		text = strings.Replace(text, "e", ".0e", 1)
	}
	return text
}

// exponents is from which size on the JSON library writes a float with an exponent.
const exponents = 1e21

// Distinct writes a float so that it is read as a float again, not as an integer. It
// returns false for one that JSON writes with a point or an exponent anyway.
func Distinct(f float64) (json.Number, bool) {
	if f != math.Trunc(f) || math.Abs(f) >= exponents {
		return "", false
	}
	return json.Number(strconv.FormatFloat(f, 'f', 1, 64)), true
}
