package dataflow

import "strings"

// didYouMean proposes the name that was probably meant, as the end of a message,
// or nothing.
func didYouMean(name string, known []string) string {
	best, distance := "", len(name)/3+2
	for _, candidate := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// editDistance counts the characters to insert, delete or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// enumerate lists names in a message. A long list says nothing.
func enumerate(names []string) string {
	const limit = 20
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > limit:
		return strings.Join(names[:limit], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
