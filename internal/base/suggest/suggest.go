// Package suggest finds the known name that is closest to a misspelt one.
package suggest

import "strings"

// longest is how long a name may be: comparing longer ones costs more than a
// proposal is worth.
const longest = 64

// Name returns the known name that is most like another one, the first of several;
// "" if none is like it. Upper and lower case make no difference.
func Name(name string, known []string) string {
	if len(name) > longest {
		return ""
	}
	best, distance := "", len(name)/3+2
	for _, candidate := range known {
		if len(candidate) > longest {
			continue
		}
		if d := edits(strings.ToLower(name), strings.ToLower(candidate)); d < distance {
			best, distance = candidate, d
		}
	}
	return best
}

// edits counts the bytes to insert, delete or replace to get from one text to
// another.
func edits(from, to string) int {
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(from) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(to) {
			replaced := diagonal
			if from[i] != to[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// DidYouMean proposes the name that was probably meant, as the end of a message, or
// nothing.
func DidYouMean(name string, known []string) string {
	if best := Name(name, known); best != "" {
		return ": did you mean " + best + "?"
	}
	return ""
}

// Enumerate lists names in a message. A long list says nothing.
func Enumerate(names []string) string {
	const most = 20
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > most:
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
