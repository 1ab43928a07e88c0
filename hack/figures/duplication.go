package main

import (
	"fmt"
	"strings"
)

// sameLines is how many lines in a row must be the same to count as a repetition. Blank lines,
// comments, imports and lone brackets are passed over.
const sameLines = 6

// duplication counts the lines that stand in more than one place, and names the pairs of
// places, each once.
func duplication(files []file) (repeated int, where []string) {
	type spot struct{ file, index int }
	first := map[string]spot{}
	marked := map[spot]bool{}
	reported := map[string]bool{}
	for at, f := range files {
		for i := 0; i+sameLines <= len(f.text); i++ {
			window := make([]string, sameLines)
			for k := range window {
				window[k] = f.text[i+k].text
			}
			key := strings.Join(window, "\n")
			known, ok := first[key]
			if !ok {
				first[key] = spot{at, i}
				continue
			}
			for k := range sameLines {
				marked[spot{at, i + k}], marked[spot{known.file, known.index + k}] = true, true
			}
			pair := files[known.file].name + " ~ " + f.name
			if !reported[pair] {
				reported[pair] = true
				where = append(where, fmt.Sprintf("%s:%d ~ %s:%d", files[known.file].name, files[known.file].text[known.index].number, f.name, f.text[i].number))
			}
		}
	}
	return len(marked), where
}
