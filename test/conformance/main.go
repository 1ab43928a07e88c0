// Command conformance runs a folder of language cases through the merge
// command of a binary and prints how many pass, by tier and by feature.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/landscaper-cli", "binary with the command \"spiff merge\"")
	corpus := flag.String("corpus", "", "folder with case files")
	verbose := flag.Bool("v", false, "print every failing case with its outcome")
	only := flag.String("case", "", "run only the case of this name")
	parallel := flag.Int("parallel", runtime.NumCPU(), "number of cases running at the same time")
	flag.Parse()
	failed, err := run(*binary, *corpus, *only, *parallel, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func run(binary, corpus, only string, parallel int, verbose bool) (failed bool, err error) {
	if corpus == "" {
		return false, fmt.Errorf("name the folder with the cases: -corpus FOLDER")
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return false, err
	}
	cases, err := load(corpus)
	if err != nil {
		return false, err
	}
	if only != "" {
		cases = byName(cases, only)
	}
	start := time.Now()
	outcomes := runAll(binary, cases, parallel)
	summary := newSummary()
	for i, c := range cases {
		summary.add(c, outcomes[i])
		if verbose && !outcomes[i].passed() {
			fmt.Printf("FAIL %s\n%s\n", c.Name, outcomes[i].detail)
		}
	}
	summary.print(os.Stdout, time.Since(start))
	return summary.failed > 0, nil
}

func byName(cases []testCase, name string) []testCase {
	var list []testCase
	for _, c := range cases {
		if c.Name == name {
			list = append(list, c)
		}
	}
	return list
}

func runAll(binary string, cases []testCase, parallel int) []outcome {
	outcomes := make([]outcome, len(cases))
	next := make(chan int)
	var group sync.WaitGroup
	for range max(parallel, 1) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				outcomes[i] = cases[i].run(binary)
			}
		}()
	}
	for i := range cases {
		next <- i
	}
	close(next)
	group.Wait()
	return outcomes
}
