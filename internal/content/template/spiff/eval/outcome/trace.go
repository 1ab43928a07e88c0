package outcome

// MaxTrace bounds the call stack shown in a report.
const MaxTrace = 20

// NestedIssues lists the failed nodes of evaluated content.
func NestedIssues(nodes []Node, first []Issue) []Issue {
	if len(nodes) == 1 {
		return first
	}
	issues := make([]Issue, 0, min(len(nodes), MaxTrace))
	for _, n := range nodes[:min(len(nodes), MaxTrace)] {
		issues = append(issues, Issue{Message: n.Line(), Nested: Nested(n.Nested...)})
	}
	return issues
}

// Nested puts issues one level deeper, as long as there are not too many.
func Nested(issues ...Issue) []Issue {
	depth := 0
	for list := issues; len(list) > 0; list = list[0].Nested {
		depth++
	}
	if depth >= MaxTrace {
		return []Issue{{Message: issues[0].Message}}
	}
	return issues
}
