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
	files["go.mod"] = "module example.org/tests\n\ngo 1.26\n"
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
			[]string{"ok  \texample.org/tests/good\t", "The slowest tests:\n", " s  TestOne\n", " s  TestTwo\n", " s  TestThree\n"}, []string{"a word of one", "sub"},
		},
		{
			"a test that fails says all, others nothing", []string{"./bad", "./good"}, false,
			[]string{"before all", "it is wrong", "--- FAIL: TestBad", "FAIL\texample.org/tests/bad\t", "ok  \texample.org/tests/good\t"}, []string{"a word of good"},
		},
		{"so does one in whose middle the program ends", []string{"./panics"}, false, []string{"panic: in the middle", "FAIL\texample.org/tests/panics\t"}, nil},
		{"what cannot be compiled fails, and the rest is run", []string{"./broken", "./good"}, false, []string{"cannot use `text`", "example.org/tests/broken [build failed]", "ok  \texample.org/tests/good\t"}, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var out bytes.Buffer
			ok, err := run(append([]string{"-count=1", "-vet=off"}, test.arguments...), &out)
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

// TestTable: the slowest tests stand first.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(table([]taken{{"TestQuick", 0.1}, {"TestSlow", 90}, {"TestMiddle", 5.5}}, 2)), "\n")
	if !slices.Equal(lines[1:], []string{"  90.0 s  TestSlow", "   5.5 s  TestMiddle"}) {
		t.Errorf("%q", lines)
	}
}
