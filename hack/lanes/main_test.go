package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module writes a module with tests, and enters it.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.org/lanes\n\ngo 1.26\n"
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

const good = `package good

import "testing"

func TestOne(t *testing.T)   { t.Log("a word of one") }
func TestTwo(t *testing.T)   {}
func TestThree(t *testing.T) { t.Run("sub", func(*testing.T) {}) }
`

const bad = `package bad

import "testing"

func TestMain(m *testing.M) { println("before all"); m.Run() }

func TestGood(t *testing.T) { t.Log("a word of good") }
func TestBad(t *testing.T)  { t.Run("sub", func(t *testing.T) { t.Error("it is wrong") }) }
`

const panics = `package panics

import "testing"

func TestPanic(*testing.T) { panic("in the middle") }
`

func TestRun(t *testing.T) {
	module(t, map[string]string{
		"good/good_test.go": good, "bad/bad_test.go": bad, "panics/panics_test.go": panics,
		"broken/broken_test.go": "package broken\n\nvar x int = `text`\n", "empty/empty.go": "package empty\n",
	})
	tests := []struct {
		reason    string
		arguments []string
		ok        bool
		says      []string
		not       []string
	}{
		{
			"tests that succeed say nothing", []string{"./good", "./empty"}, true,
			[]string{"ok  \texample.org/lanes/good\t", "The slowest tests:\n", " s  TestOne\n", " s  TestTwo\n", " s  TestThree\n"}, []string{"a word of one", "sub", "empty"},
		},
		{
			"parts have all tests between them", []string{"-n", "2", "./good*2"}, true,
			[]string{"good (1 of 2)\t", "good (2 of 2)\t", " s  TestOne\n", " s  TestTwo\n", " s  TestThree\n"}, nil,
		},
		{
			"a test that fails says all, others nothing", []string{"./bad", "./good"}, false,
			[]string{"before all", "it is wrong", "--- FAIL: TestBad", "FAIL\texample.org/lanes/bad\t", "ok  \texample.org/lanes/good\t"}, []string{"a word of good"},
		},
		{"so does one in whose middle the program ends", []string{"./panics"}, false, []string{"panic: in the middle", "FAIL\texample.org/lanes/panics\t"}, nil},
		{"what cannot be compiled fails, and the rest is run", []string{"./broken", "./good"}, false, []string{"cannot use `text`", "FAIL\texample.org/lanes/broken [build failed]", "ok  \texample.org/lanes/good\t"}, nil},
		{"the list may be short", []string{"-slowest", "0", "./good"}, true, nil, []string{"TestOne"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var out bytes.Buffer
			ok, err := run(test.arguments, &out)
			if err != nil || ok != test.ok {
				t.Errorf("ok is %t, %v", ok, err)
			}
			for _, word := range test.says {
				if !strings.Contains(out.String(), word) {
					t.Errorf("%q is missing in %s", word, out.String())
				}
			}
			for _, word := range test.not {
				if strings.Contains(out.String(), word) {
					t.Errorf("%q is in %s", word, out.String())
				}
			}
		})
	}
}

func TestWrongArguments(t *testing.T) {
	module(t, map[string]string{"good/good_test.go": good})
	for argument, says := range map[string]string{"./good*x": "how many parts", "./good*0": "how many parts", "./nothing": "list the packages of ./nothing"} {
		if _, err := run([]string{argument}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", argument, err)
		}
	}
}

// TestPattern: each test is in one part.
func TestPattern(t *testing.T) {
	names := []string{"TestA", "TestB", "TestC"}
	if first, second := pattern(names, 1, 2), pattern(names, 2, 2); first != "^(TestA|TestC)$" || second != "^(TestB)$" {
		t.Error(first, second)
	}
}

// TestTable: the slowest tests stand first.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(table([]taken{{"TestQuick", 0.1}, {"TestSlow", 90}, {"TestMiddle", 5.5}}, 2)), "\n")
	if !slices.Equal(lines[1:], []string{"  90.0 s  TestSlow", "   5.5 s  TestMiddle"}) {
		t.Errorf("%q", lines)
	}
}
