package causes

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
)

// result is one line of the table.
type result struct {
	area, fault string
	at, depth   int
	when        string
	verdict     verdict
}

// table collects the results of rows that run at the same time.
type table struct {
	mutex   sync.Mutex
	results []result
}

func (t *table) add(r result) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.results = append(t.results, r)
}

// write prints the table in the order of the catalogue, and the sums.
func (t *table) write(out io.Writer) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	slices.SortFunc(t.results, func(a, b result) int {
		return cmp.Or(a.at-b.at, a.depth-b.depth, cmp.Compare(b.when, a.when))
	})
	fmt.Fprintf(out, "%-12s %-46s %5s %-6s %-9s %-10s %-7s\n", "area", "fault", "depth", "when", surfaces[0], surfaces[1], surfaces[2])
	for _, r := range t.results {
		fmt.Fprintf(out, "%-12s %-46s %5d %-6s %-9s %-10s %-7s\n", r.area, r.fault, r.depth, r.when, r.verdict[surfaces[0]], r.verdict[surfaces[1]], r.verdict[surfaces[2]])
	}
	fmt.Fprintln(out, "r reason, o object, c cluster, n next step, - missing, . does not exist for this fault")
	for _, when := range []string{during, after} {
		for _, depth := range []int{0, 3} {
			all, full, lenient := 0, 0, 0
			for _, r := range t.results {
				if r.when != when || r.depth != depth {
					continue
				}
				all++
				if r.verdict.full() {
					full++
				}
				if r.verdict.lenient() {
					lenient++
				}
			}
			fmt.Fprintf(out, "%s, depth %d: every surface names all in %d of %d; %d if one surface is enough\n", when, depth, full, all, lenient)
		}
	}
}
