package picture

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mattn/go-runewidth"

	"go.landscaper.dev/internal/base/graph"
	"go.landscaper.dev/internal/landscape/flowview"
)

// Sizes in the units of an SVG.
const (
	charWidth  = 7.2
	boxHeight  = 46.0
	chipHeight = 26.0
	padding    = 14.0
	columnGap  = 64.0
	rowGap     = 18.0
	lineHeight = 4.0
	headHeight = 40.0
	// longest is the number of characters of a name before it is shortened.
	longest = 42
)

// block is something with a place: an Installation, perhaps with others inside, a value,
// or the space that a line needs to pass others.
type block struct {
	unit  *flowview.Unit
	value *flowview.Value
	// inside is the arrangement of what is inside.
	inside     *arrangement
	x, y, w, h float64
	// column is how far from the left it stands.
	column int
}

// arrangement is a scope with a place for everything.
type arrangement struct {
	blocks []*block
	edges  []way
	w, h   float64
}

// way is a line from the first block to the last, past others through the ones between.
type way []*block

func (w way) from() *block { return w[0] }
func (w way) to() *block   { return w[len(w)-1] }

// arrange finds a place for everything: values flow from left to right, and what
// belongs together is close to each other.
func arrange(scope *flowview.Scope) *arrangement {
	a := &arrangement{}
	byName := map[string]*block{}
	for _, unit := range scope.Units {
		b := newUnitBlock(unit)
		byName[unit.Name] = b
		a.blocks = append(a.blocks, b)
	}
	for _, value := range scope.Values {
		b := &block{value: value, w: textWidth(label(value)) + 2*padding, h: chipHeight}
		a.blocks = append(a.blocks, b)
		for _, name := range value.Exporters {
			a.edges = append(a.edges, way{byName[name], b})
		}
		for _, name := range value.Importers {
			a.edges = append(a.edges, way{b, byName[name]})
		}
	}
	a.chooseColumns()
	a.bend()
	a.place()
	return a
}

func newUnitBlock(unit *flowview.Unit) *block {
	b := &block{unit: unit, w: max(textWidth(unit.Title), textWidth(phaseLine(unit))) + 2*padding, h: boxHeight}
	if unit.Inside != nil {
		b.inside = arrange(unit.Inside)
		b.w, b.h = max(b.w, b.inside.w+2*padding), headHeight+b.inside.h+padding
	}
	return b
}

func phaseLine(unit *flowview.Unit) string {
	if unit.Phase == "" {
		return "no job yet"
	}
	return unit.Phase
}

func textWidth(text string) float64 {
	return float64(runewidth.StringWidth(shortened(text))) * charWidth
}

func shortened(text string) string { return runewidth.Truncate(text, longest, "…") }

// chooseColumns puts every block to the right of the blocks that it needs. The blocks of a
// cycle are in a column behind all that the cycle needs.
func (a *arrangement) chooseColumns() {
	number := map[*block]int{}
	for i, b := range a.blocks {
		number[b] = i
	}
	needs := make(graph.Graph, len(a.blocks))
	for _, edge := range a.edges {
		needs[number[edge.to()]] = append(needs[number[edge.to()]], number[edge.from()])
	}
	order, held := needs.Order()
	for _, i := range slices.Concat(order, held) {
		for _, need := range needs[i] {
			a.blocks[i].column = max(a.blocks[i].column, a.blocks[need].column+1)
		}
	}
	// A value from outside stands next to who needs it.
	for _, b := range a.blocks {
		if b.value != nil && b.value.Outside() {
			b.column = max(0, a.firstUse(b)-1)
		}
	}
}

func (a *arrangement) firstUse(b *block) int {
	first := 1 << 30
	for _, edge := range a.edges {
		if edge.from() == b {
			first = min(first, edge.to().column)
		}
	}
	return first
}

// bend gives lines that pass a column space in it.
func (a *arrangement) bend() {
	for i, edge := range a.edges {
		long := way{edge.from()}
		for column := edge.from().column + 1; column < edge.to().column; column++ {
			space := &block{h: lineHeight, column: column}
			a.blocks = append(a.blocks, space)
			long = append(long, space)
		}
		a.edges[i] = append(long, edge.to())
	}
}

// isSpace reports whether a block is only space for a line.
func (b *block) isSpace() bool { return b.unit == nil && b.value == nil }

// place gives each column its blocks from top to bottom, each near the middle of what
// it is connected with.
func (a *arrangement) place() {
	var columns [][]*block
	for _, b := range a.blocks {
		for len(columns) <= b.column {
			columns = append(columns, nil)
		}
		columns[b.column] = append(columns[b.column], b)
	}
	x := 0.0
	for _, column := range columns {
		if len(column) == 0 {
			continue
		}
		stack(column)
		a.straighten(column)
		stack(column)
		width := 0.0
		for _, b := range column {
			b.x = x
			width = max(width, b.w)
			a.h = max(a.h, b.y+b.h)
		}
		for _, b := range column {
			if b.isSpace() {
				b.w = width
			}
		}
		x += width + columnGap
	}
	a.w = max(0, x-columnGap)
	for _, column := range columns {
		centre(column, a.h)
	}
}

// straighten sorts a column by where its neighbours to the left stand.
func (a *arrangement) straighten(column []*block) {
	want := map[*block]float64{}
	for i, b := range column {
		sum, count := 0.0, 0
		for _, edge := range a.edges {
			if at := slices.Index(edge, b); at > 0 && edge[at-1].column < b.column {
				sum, count = sum+edge[at-1].y+edge[at-1].h/2, count+1
			}
		}
		want[b] = float64(i) * rowGap
		if count > 0 {
			want[b] = sum / float64(count)
		}
	}
	slices.SortStableFunc(column, func(a, b *block) int { return cmp.Compare(want[a], want[b]) })
}

func stack(column []*block) {
	y := 0.0
	for _, b := range column {
		b.y = y
		y += b.h + rowGap
	}
}

func centre(column []*block, height float64) {
	if len(column) == 0 {
		return
	}
	last := column[len(column)-1]
	shift := (height - last.y - last.h) / 2
	for _, b := range column {
		b.y += shift
	}
}

// number writes a coordinate as short as a picture needs.
func number(value float64) string { return strconv.FormatFloat(value, 'f', 1, 64) }
