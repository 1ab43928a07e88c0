// Package number has the rules by which texts become numbers and numbers texts, the
// same for templates, schemas, documents and what is stored:
//
//   - A literal without a point and an exponent is an integer, with all its digits.
//   - Anything else is a float, which counts as an integer where one is wanted and it
//     has no fraction.
//   - Integers keep all digits; a float stands for exactly one whole number only
//     below 2^53.
//   - A literal that fits into neither an int64 nor a float64 stays a literal.
//
// Spiff has a syntax for numbers of its own, and Go's templates print and compare
// theirs: both are built on these rules.
package number

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// MaxDigits is how long a literal may be that is read or computed with: the time for
// that grows with the square of its length.
const MaxDigits = 1000

// TooLong says of a number that it has more than MaxDigits.
var TooLong = fmt.Sprintf("number has more than %d digits", MaxDigits)

// Unambiguous is the size below which every whole number is a float of its own.
const Unambiguous = 1 << 53

// IsInteger reports whether a literal is one of an integer.
func IsInteger(literal json.Number) bool { return !strings.ContainsAny(literal.String(), ".eE") }

// Of returns the value of a literal: an int64, a float64, or the literal itself where
// neither can hold it.
func Of(literal json.Number) any {
	if i, err := strconv.ParseInt(literal.String(), 10, 64); err == nil {
		return i
	}
	return Rounded(literal)
}

// Rounded returns an integer as its literal, and another literal as a float64 where
// one can hold it.
func Rounded(literal json.Number) any {
	if IsInteger(literal) {
		return literal
	}
	if f, err := literal.Float64(); err == nil {
		return f
	}
	return literal
}

// Whole returns a float without a fraction as an integer.
func Whole(f float64) (int64, bool) {
	// -2^63 is an int64, 2^63 is not.
	if f != math.Trunc(f) || f < -(1<<63) || f >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// Certain returns a float that can stand for only one integer as that integer. JSON has one kind of
// numbers, so an integer may arrive as a float.
func Certain(f float64) (int64, bool) {
	if math.Abs(f) >= Unambiguous {
		return 0, false
	}
	return Whole(f)
}

// Big returns a number as large as a literal says. Digits of an integer that are far
// beyond the precision do not count.
func Big(literal json.Number) (*big.Float, bool) {
	text := literal.String()
	if len(text) > MaxDigits {
		if !IsInteger(literal) {
			return nil, false
		}
		text = fmt.Sprintf("%se%d", text[:MaxDigits], len(text)-MaxDigits)
	}
	f, _, err := big.ParseFloat(text, 10, 1024, big.ToNearestEven)
	return f, err == nil
}

// IsShort reports whether a literal has at most MaxDigits when it is written without
// an exponent.
func IsShort(literal json.Number) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(literal.String()), "e")
	if exponent == "" {
		exponent = "0"
	}
	zeros, err := strconv.Atoi(exponent)
	return err == nil && len(digits) <= MaxDigits && zeros >= -MaxDigits && zeros <= MaxDigits
}

// Same reports whether two literals mean the same on the wire: 1.0 is 1. Integers of 64
// bits keep all digits; API servers hold everything else as floats, and may answer with
// fewer digits than they were sent.
func Same(a, b json.Number) bool {
	if a == b {
		return true
	}
	wholeA, fractionA := a.Int64()
	wholeB, fractionB := b.Int64()
	if fractionA == nil && fractionB == nil {
		return wholeA == wholeB
	}
	first, errA := a.Float64()
	second, errB := b.Float64()
	return errA == nil && errB == nil && first == second
}

// Compare orders an integer and a float without losing digits; 2 if the float is not a
// number.
func Compare(i int64, f float64) int {
	switch {
	case math.IsNaN(f):
		return 2
	case f >= 1<<63:
		return -1
	case f < -(1 << 63):
		return 1
	}
	whole := int64(math.Floor(f))
	switch {
	case i < whole:
		return -1
	case i > whole:
		return 1
	case f > math.Floor(f):
		return -1
	}
	return 0
}
