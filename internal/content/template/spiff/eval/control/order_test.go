package control_test

import (
	"testing"

	"go.landscaper.dev/test/language"
)

// TestMistakesInOrder: of several mistakes the first ones are named in each attempt.
func TestMistakesInOrder(t *testing.T) {
	for range 50 {
		controlled().Breaks(t, []language.Row{
			{"three controls", "a: {<<if: true, <<for: {x: [1]}, <<switch: a}", "a map can hold only one control, but there are <<for and <<if"},
			{"two unknown options", "a: {<<if: true, <<then: x, <<key: 1, <<do: 2}", "unknown option <<do of control <<if"},
		})
	}
}
