package value

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/base/number"
)

// ErrUncomparable is returned where the language refuses a comparison.
var ErrUncomparable = errors.New("types uncomparable")

// Equal compares by the rules of the language; the left operand decides.
func Equal(a, b Value) (bool, error) {
	switch a := a.(type) {
	case Null:
		return IsNull(b), nil
	case String:
		return equalText(a.Text, b)
	case Bytes:
		return equalText(string(a), b)
	case Int:
		return equalInt(a, b), nil
	case Float:
		return equalFloat(a, b), nil
	case Bool:
		return equalBool(a, b), nil
	case *List:
		return equalList(a, b), nil
	case *Map:
		return equalMap(a, b), nil
	case Opaque:
		other, ok := b.(Opaque)
		return ok && a.Same(other), nil
	}
	return false, ErrUncomparable
}

func equalText(a string, b Value) (bool, error) {
	switch b := b.(type) {
	case Null:
		return false, nil
	case String, Bytes, Int, Bool:
		return a == plainText(b), nil
	case Opaque:
		if text, ok := b.Plain().(String); ok && b.TypeName() == "lambda" {
			return a == LambdaText(text.Text), nil
		}
	}
	return false, ErrUncomparable
}

// LambdaText strips the brackets of a printed lambda.
func LambdaText(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "(( "), " ))")
}

func plainText(v Value) string {
	text, _ := SimpleText(v)
	return text
}

// SimpleText renders a string, integer or boolean; ok is false for others.
func SimpleText(v Value) (text string, ok bool) {
	switch v := v.(type) {
	case String:
		return v.Text, true
	case Bytes:
		return string(v), true
	case Int:
		return strconv.FormatInt(int64(v), 10), true
	case Bool:
		return strconv.FormatBool(bool(v)), true
	}
	return "", false
}

// Number returns the numeric value of an int or float.
func Number(v Value) (float64, bool) {
	switch v := v.(type) {
	case Int:
		return float64(v), true
	case Float:
		return float64(v), true
	}
	return 0, false
}

func equalInt(a Int, b Value) bool {
	switch b := b.(type) {
	case Int:
		return a == b
	case Float:
		return number.Compare(int64(a), float64(b)) == 0
	case String, Bytes:
		n, err := strconv.ParseInt(plainText(b), 10, 64)
		return err == nil && int64(a) == n
	case Bool:
		return a == 1 && bool(b) || a == 0 && !bool(b)
	}
	return false
}

func equalFloat(a Float, b Value) bool {
	switch b := b.(type) {
	case Int:
		return number.Compare(int64(b), float64(a)) == 0
	case Float:
		return a == b
	}
	return false
}

func equalBool(a Bool, b Value) bool {
	switch b := b.(type) {
	case Bool:
		return a == b
	case String, Bytes:
		word, err := strconv.ParseBool(strings.ToLower(plainText(b)))
		return err == nil && bool(a) == word
	}
	return false
}

func equalList(a *List, b Value) bool {
	other, ok := b.(*List)
	if !ok || len(a.Items) != len(other.Items) {
		return false
	}
	for i, n := range a.Items {
		if same, err := Equal(n.Value, other.Items[i].Value); err != nil || !same {
			return false
		}
	}
	return true
}

func equalMap(a *Map, b Value) bool {
	other, ok := b.(*Map)
	if !ok || a.Len() != other.Len() {
		return false
	}
	for i, k := range a.Keys {
		if k != other.Keys[i] {
			return false
		}
		if same, err := Equal(a.Items[i].Value, other.Items[i].Value); err != nil || !same {
			return false
		}
	}
	return true
}

// Compare orders two numbers or two texts. ok is false for operands that have no order.
func Compare(a, b Value) (order int, ok bool, err error) {
	switch a := a.(type) {
	case String, Bytes:
		switch b.(type) {
		case String, Bytes:
			return cmp.Compare(plainText(a), plainText(b)), true, nil
		}
		return 0, false, ErrUncomparable
	case Int:
		switch b := b.(type) {
		case Int:
			return cmp.Compare(a, b), true, nil
		case Float:
			order = number.Compare(int64(a), float64(b))
			return order, order != 2, nil
		}
		return 0, false, ErrUncomparable
	case Float:
		switch b := b.(type) {
		case Int:
			order = number.Compare(int64(b), float64(a))
			return -order, order != 2, nil
		case Float:
			return cmp.Compare(a, b), a == a && b == b, nil
		}
		return 0, false, ErrUncomparable
	}
	return 0, false, nil
}

// Identical compares type and content.
func Identical(a, b Value) bool {
	switch a := a.(type) {
	case *List:
		return identicalList(a, b)
	case *Map:
		return identicalMap(a, b)
	case String:
		other, ok := b.(String)
		return ok && a.Text == other.Text
	case Bytes:
		other, ok := b.(Bytes)
		return ok && string(a) == string(other)
	case Opaque:
		other, ok := b.(Opaque)
		return ok && a.Same(other)
	}
	return a == b
}

func identicalList(a *List, b Value) bool {
	other, ok := b.(*List)
	if !ok || len(a.Items) != len(other.Items) {
		return false
	}
	for i, n := range a.Items {
		if !Identical(n.Value, other.Items[i].Value) {
			return false
		}
	}
	return true
}

func identicalMap(a *Map, b Value) bool {
	other, ok := b.(*Map)
	if !ok || a.Len() != other.Len() {
		return false
	}
	for i, k := range a.Keys {
		if k != other.Keys[i] || !Identical(a.Items[i].Value, other.Items[i].Value) {
			return false
		}
	}
	return true
}
