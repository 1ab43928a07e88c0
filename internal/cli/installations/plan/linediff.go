package plan

import "go.landscaper.dev/internal/landscape/diff"

// longestTexts is up to how many lines two texts are compared line by line; longer ones
// are shown as a whole.
const longestTexts = 2000

// lineStep is a line that goes or comes.
type lineStep struct {
	action diff.Action
	line   string
}

// lineDiff returns the lines that go and come; those that stay are left out.
func lineDiff(before, after []string) []lineStep {
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
	var steps []lineStep
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && length[i+1][j] >= length[i][j+1]:
			steps = append(steps, lineStep{diff.Delete, before[i]})
			i++
		default:
			steps = append(steps, lineStep{diff.Create, after[j]})
			j++
		}
	}
	return steps
}

func whole(before, after []string) []lineStep {
	var steps []lineStep
	for _, line := range before {
		steps = append(steps, lineStep{diff.Delete, line})
	}
	for _, line := range after {
		steps = append(steps, lineStep{diff.Create, line})
	}
	return steps
}
