package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// row is a row of the table.
type row struct{ figure, value, where string }

const (
	// largePackage and longFile are what a package and a file should stay below, in lines.
	largePackage, longFile = 2000, 400
	// manyBranches is the cyclomatic complexity that a function should stay below.
	manyBranches = 15
)

// place is a number and what it belongs to.
type place struct {
	number int
	name   string
}

// table makes the rows that follow from files.
func table(files []file) []row {
	var code, tests []file
	for _, f := range files {
		if f.test {
			tests = append(tests, f)
		} else {
			code = append(code, f)
		}
	}
	functions, branches, reconciles := places(code)
	packages := packagesOf(code)
	rows, all := rowsOf(tests)
	long := slices.DeleteFunc(slices.Clone(code), func(f file) bool { return f.lines <= longFile })
	large := slices.DeleteFunc(slices.Clone(packages), func(p place) bool { return p.number <= largePackage })
	repeated, where := duplication(code)
	lines, testLines := sum(code, func(f file) int { return f.code }), sum(tests, func(f file) int { return f.code })
	comments := sum(code, func(f file) int { return f.comments })
	complicated := slices.DeleteFunc(slices.Clone(branches), func(p place) bool { return p.number <= manyBranches })
	return []row{
		{"lines of code", fmt.Sprint(lines), fmt.Sprintf("%d files in %d packages", len(code), len(packages))},
		{"Reconcile, median/longest lines", fmt.Sprintf("%d/%d", median(reconciles), last(reconciles).number), last(reconciles).name},
		{"longest function, lines", fmt.Sprint(last(functions).number), last(functions).name},
		{"cyclomatic maximum (how many above 15)", fmt.Sprintf("%d (%d)", last(branches).number, len(complicated)), last(branches).name},
		{"files above 400 lines", fmt.Sprint(len(long)), names(long)},
		{"package, median/largest lines of code", fmt.Sprintf("%d/%d", median(packages), last(packages).number), last(packages).name},
		{"packages above 2,000 lines of code", fmt.Sprint(len(large)), joined(large)},
		{"undocumented exports", fmt.Sprint(sum(code, func(f file) int { return f.undocumented })), names(slices.DeleteFunc(slices.Clone(code), func(f file) bool { return f.undocumented == 0 }))},
		{"duplication", percent(repeated, lines), strings.Join(where, " ")},
		{"comment lines", percent(comments, lines+comments), ""},
		{"test lines per code line", fmt.Sprintf("%.2f", float64(testLines)/float64(max(1, lines))), ""},
		{"tests with rows that run alone", fmt.Sprintf("%d of %d", rows, all), ""},
	}
}

// places returns functions by their lines and by their branches, and those that are
// called Reconcile, each list in order.
func places(files []file) (functions, branches, reconciles []place) {
	for _, f := range files {
		for _, made := range f.functions {
			name := f.name + ": " + made.name
			functions = append(functions, place{made.lines, name})
			branches = append(branches, place{made.branches, name})
			if made.name == "Reconcile" {
				reconciles = append(reconciles, place{made.lines, name})
			}
		}
	}
	order(functions)
	order(branches)
	order(reconciles)
	return functions, branches, reconciles
}

func packagesOf(files []file) []place {
	sizes := map[string]int{}
	for _, f := range files {
		sizes[f.dir] += f.code
	}
	var packages []place
	for _, dir := range slices.Sorted(maps.Keys(sizes)) {
		packages = append(packages, place{sizes[dir], dir})
	}
	order(packages)
	return packages
}

func order(places []place) {
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.number, b.number) })
}

// rowsOf counts tests, and those of them whose rows run as tests of their own: in the test
// itself, or in a helper of its package that the test is handed to.
func rowsOf(tests []file) (rows, all int) {
	helpers := map[string]function{}
	for _, f := range tests {
		for _, made := range f.functions {
			if made.tester != "" {
				helpers[f.pkg+" "+made.name] = made
			}
		}
	}
	for _, f := range tests {
		for _, made := range f.functions {
			if !made.isTest {
				continue
			}
			all++
			if runsRows(made, f.pkg, helpers, map[string]bool{}) {
				rows++
			}
		}
	}
	return rows, all
}

func runsRows(made function, pkg string, helpers map[string]function, seen map[string]bool) bool {
	if made.rows {
		return true
	}
	for _, name := range made.helpers {
		helper, known := helpers[pkg+" "+name]
		if !known || seen[name] {
			continue
		}
		seen[name] = true
		if runsRows(helper, pkg, helpers, seen) {
			return true
		}
	}
	return false
}

func sum(files []file, of func(file) int) (total int) {
	for _, f := range files {
		total += of(f)
	}
	return total
}

func median(places []place) int {
	if len(places) == 0 {
		return 0
	}
	return places[len(places)/2].number
}

func last(places []place) place {
	if len(places) == 0 {
		return place{}
	}
	return places[len(places)-1]
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(1, whole)))
}

func names(files []file) string {
	var list []string
	for _, f := range files {
		list = append(list, fmt.Sprintf("%s (%d)", f.name, f.lines))
	}
	return strings.Join(list, " ")
}

func joined(places []place) string {
	var list []string
	for _, p := range places {
		list = append(list, fmt.Sprintf("%s (%d)", p.name, p.number))
	}
	return strings.Join(list, " ")
}
