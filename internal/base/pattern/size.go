package pattern

import "regexp/syntax"

// sharedGroups is how many groups cost as much as an instruction itself: a step copies
// where each group begins and ends. Without them in the count, an expression with a
// thousand groups takes a hundred times as long as its instructions say.
const sharedGroups = 8

// size is how many instructions an expression has at the most, times what the groups
// cost. It is counted before anything is compiled, as that takes memory for each.
func size(parsed *syntax.Regexp) int {
	return (2 + instructions(parsed)) * (1 + parsed.MaxCap()/sharedGroups)
}

// instructions counts up to somewhere above MaxSize.
func instructions(re *syntax.Regexp) int {
	inside := 0
	for _, sub := range re.Sub {
		if inside += instructions(sub); inside > MaxSize {
			return inside
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(1, len(re.Rune))
	case syntax.OpConcat:
		return max(1, inside)
	case syntax.OpCapture, syntax.OpStar:
		// A loop has a second instruction if what it repeats may be empty.
		return inside + 2
	case syntax.OpAlternate:
		return inside + len(re.Sub)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return max(1, re.Min)*inside + 2
		}
		// Each part that may be missing has an instruction to leave it out.
		return max(1, re.Max*inside+re.Max-re.Min)
	}
	return inside + 1
}
