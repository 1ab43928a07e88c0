package diff

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// longestTexts is up to how many lines two texts are compared line by line; longer ones
// are shown as a whole.
const longestTexts = 2000

// Line is a line that goes or comes.
type Line struct {
	Action Action `json:"action"`
	Text   string `json:"text"`
}

// Lines returns the lines that go and come; those that stay are left out.
func Lines(before, after []string) []Line {
	if len(before) > longestTexts || len(after) > longestTexts {
		return whole(before, after)
	}
	// length[i][j] is the longest common part of before[i:] and after[j:].
	length := make([][]int16, len(before)+1)
	for i := range length {
		length[i] = make([]int16, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for j := len(after) - 1; j >= 0; j-- {
			if before[i] == after[j] {
				length[i][j] = length[i+1][j+1] + 1
				continue
			}
			length[i][j] = max(length[i+1][j], length[i][j+1])
		}
	}
	var steps []Line
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && length[i+1][j] >= length[i][j+1]:
			steps = append(steps, Line{Delete, before[i]})
			i++
		default:
			steps = append(steps, Line{Create, after[j]})
			j++
		}
	}
	return steps
}

func whole(before, after []string) []Line {
	var steps []Line
	for _, line := range before {
		steps = append(steps, Line{Delete, line})
	}
	for _, line := range after {
		steps = append(steps, Line{Create, line})
	}
	return steps
}

// TextLines are the lines of a value: a text as it is, anything else as YAML.
func TextLines(value any) []string {
	text, ok := value.(string)
	if !ok || text == "" {
		raw, err := yaml.Marshal(value)
		if err != nil {
			raw = fmt.Append(nil, value)
		}
		text = string(raw)
	}
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}
