package fieldpath

import (
	"fmt"
	"strings"

	"go.landscaper.dev/internal/runtime/job"
)

const (
	// maxUnion is how many ways the lists in brackets of a path may make together: ['a','a']
	// doubles what is found, as often as it is written.
	maxUnion = 1000
	// maxFound bounds what a path can come to in an object, with everything on the way there.
	maxFound = 1_000_000
	// MaxPlaces is how many places the paths of an item may look at together in one go, which takes 5 to 20
	// seconds: each path may have maxFound of them.
	MaxPlaces = 10_000_000
)

// width says how a path multiplies what it finds.
type width struct {
	// union is the product of the lengths of all lists in brackets.
	union int
	// descents is how often the path goes to any depth, and filters how often it looks at each
	// element.
	descents, filters int
	// searches says that the path does not just name fields.
	searches bool
}

// widthOf reads the width of a path. Quotes shield nothing: the library reads what is in them as a
// path of its own, splits brackets at each comma, and takes a quote outside of brackets for a letter.
func widthOf(text string) width {
	w := width{union: 1}
	var lists []int
	previous := rune(0)
	w.searches = strings.ContainsAny(text, "*?:,") || strings.Contains(text, "..")
	for _, letter := range text {
		switch {
		case letter == '[':
			lists = append(lists, 1)
		case letter == ',' && len(lists) > 0:
			lists[len(lists)-1]++
		case letter == ']' && len(lists) > 0:
			w.union = min(w.union*lists[len(lists)-1], maxUnion+1)
			lists = lists[:len(lists)-1]
		case letter == '?':
			w.filters++
		case letter == '.' && previous == '.':
			w.descents++
			letter = 0 // three dots are one descent and a field
		}
		previous = letter
	}
	return w
}

// check refuses a path that is too wide for any object.
func (w width) check() error {
	if w.union > maxUnion {
		return fmt.Errorf("its lists in brackets lead to more than %d places: write several paths", maxUnion)
	}
	return nil
}

// fits reports whether what a path can come to in an object is bounded.
//
// One descent comes to each node once. With a second one each node is found once for each node
// above it, and so on; a filter that descends begins at each element. So nodes times depth for each
// further descent is never too little.
func (w width) fits(object any) bool {
	if w.descents == 0 && w.union == 1 {
		return true
	}
	nodes, depth := extent(object)
	found := nodes * w.union
	further := w.descents - 1
	if w.descents > 0 {
		further += w.filters
	}
	for ; further > 0 && found <= maxFound; further-- {
		found *= depth
	}
	return found <= maxFound
}

// Places is how many places of an object a path may look at, as an estimate; 0 for one that names
// fields.
func (p Path) Places(object map[string]any) int {
	if !p.width.searches {
		return 0
	}
	nodes, _ := extent(object)
	return nodes * p.width.union
}

// TooManyPlaces is the error about paths that look at more than MaxPlaces.
func TooManyPlaces(what string) error {
	return job.AsTerminal(fmt.Errorf("%s cannot be looked for: the paths come to more than %d places of the objects together; name the fields", what, MaxPlaces))
}

// extent is how many values there are in a value, and how deep they are.
func extent(value any) (nodes, depth int) {
	count := func(inner any) {
		more, deeper := extent(inner)
		nodes, depth = nodes+more, max(depth, deeper)
	}
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			count(inner)
		}
	case []any:
		for _, inner := range value {
			count(inner)
		}
	}
	return nodes + 1, depth + 1
}

var errWide = fmt.Errorf("%w: it would come to more than %d places of it, name the fields", errPath, maxFound)
