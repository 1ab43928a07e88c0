package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/landscape/inspect"
)

func TestExitCode(t *testing.T) {
	resource := schema.GroupResource{Resource: "installations"}
	tests := []struct {
		reason    string
		err       error
		old, full int
	}{
		{"success", nil, 0, 0},
		{"anything", errors.New("x"), 1, 1},
		{"a chosen code", fmt.Errorf("x: %w", terminal.Exitf(terminal.ExitTimeout, "late")), 1, 5},
		{"a missing object", fmt.Errorf("x: %w", apierrors.NewNotFound(resource, "a")), 1, 3},
		{"a missing permission", &inspect.ReadError{Resource: resource, Err: apierrors.NewForbidden(resource, "", nil)}, 1, 4},
		{"bad credentials", apierrors.NewUnauthorized("x"), 1, 4},
		{"the user stopped it, in old commands as well", fmt.Errorf("x: %w", context.Canceled), 130, 130},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := terminal.ExitCode(test.err, false); got != test.old {
				t.Errorf("code %d, want %d in old commands", got, test.old)
			}
			if got := terminal.ExitCode(test.err, true); got != test.full {
				t.Errorf("code %d, want %d", got, test.full)
			}
		})
	}
}

func TestTerminal(t *testing.T) {
	tests := []struct {
		reason       string
		columns      int
		environment  map[string]string
		color, ascii bool
	}{
		{"a terminal", 80, nil, true, false},
		{"a terminal of unknown width", -1, nil, true, false},
		{"a file gets no colours, and UTF-8 in every locale", 0, map[string]string{"LANG": "C"}, false, false},
		{"the user wants no colours", 80, map[string]string{"NO_COLOR": "1"}, false, false},
		{"an empty NO_COLOR does not count", 80, map[string]string{"NO_COLOR": ""}, true, false},
		{"the terminal has no colours", 80, map[string]string{"TERM": "dumb"}, false, false},
		{"the locale has no UTF-8", 80, map[string]string{"LANG": "de_DE.ISO-8859-1"}, true, true},
		{"the locale has UTF-8", 80, map[string]string{"LANG": "de_DE.utf8"}, true, false},
		{"the more special variable counts", 80, map[string]string{"LC_ALL": "C.UTF-8", "LANG": "C"}, true, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := (&terminaltest.Console{Columns: test.columns, Environment: test.environment}).Streams()
			if s.Color() != test.color || s.ASCII() != test.ascii {
				t.Errorf("colour %t, ASCII %t", s.Color(), s.ASCII())
			}
		})
	}
}

func TestRun(t *testing.T) {
	full := map[string]string{terminal.ExitCodesVariable: "2"}
	for _, test := range []struct {
		reason      string
		args        string
		environment map[string]string
		code        int
		out, err    string
	}{
		{"an old command knows 0 and 1 only", "old", nil, 1, "", "Error: late\n"},
		{"an old command knows all exit codes with the environment variable", "old", full, terminal.ExitTimeout, "", "Error: late\n"},
		{"a new command tells", "new", nil, terminal.ExitTimeout, "", "Error: late\n"},
		{"wrong arguments", "new x", nil, terminal.ExitUsage, "", "Error: unknown command \"x\" for \"root new\"\n"},
		{"a flag that a group does not have", "group --nothing", full, terminal.ExitUsage, "", "Error: unknown flag: --nothing\n"},
		{"a command that was mistyped", "group inspct", full, terminal.ExitUsage, "", "Error: unknown command \"inspct\" for \"root group\": did you mean inspect?\n"},
		{"with a flag that only it would know", "group inspct -n x", full, terminal.ExitUsage, "", "Error: unknown command \"inspct\" for \"root group\": did you mean inspect?\n"},
		{"an unknown flag", "new --x", nil, terminal.ExitUsage, "", "Error: unknown flag: --x\n"},
		{"values of a flag, and no files", "__complete new --color ", nil, 0, "red\ngreen\n:4\n", "Completion ended with directive: ShellCompDirectiveNoFileComp\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := &cobra.Command{Use: "root"}
			group := &cobra.Command{Use: "group", Args: terminal.Subcommand, RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
			group.AddCommand(&cobra.Command{Use: "inspect", Run: func(*cobra.Command, []string) {}})
			root.AddCommand(group)
			for _, name := range []string{"old", "new"} {
				command := &cobra.Command{
					Use: name, Args: terminal.Arguments(cobra.NoArgs),
					RunE: func(*cobra.Command, []string) error { return terminal.Exitf(terminal.ExitTimeout, "late") },
				}
				command.Flags().String("color", "", "")
				terminal.CompleteWith(command, "color", "red", "green")
				root.AddCommand(command)
				if name == "new" {
					terminal.BeStrict(command)
				}
			}
			c := &terminaltest.Console{Environment: test.environment}
			code := terminal.Run(t.Context(), root, c.Streams(), strings.Split(test.args, " "))
			if code != test.code || c.Out.String() != test.out || c.Err.String() != test.err {
				t.Errorf("code %d, %q, %q", code, c.Out.String(), c.Err.String())
			}
		})
	}
}

// TestRunHostile: messages repeat what blueprints and servers say.
func TestRunHostile(t *testing.T) {
	root := &cobra.Command{Use: "root", RunE: func(*cobra.Command, []string) error {
		return errors.New("\x1b]0;title\a\x1b[2J\u009bgone\r\nnext\tline\x7f")
	}}
	c := &terminaltest.Console{}
	terminal.Run(t.Context(), root, c.Streams(), nil)
	if got, want := c.Err.String(), "Error: ?]0;title??[2J?gone?\nnext\tline?\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithTimeout(t *testing.T) {
	late, cancel := terminal.WithTimeout(t.Context(), 1)
	defer cancel()
	<-late.Done()
	if !errors.Is(context.Cause(late), terminal.ErrTimeout) {
		t.Errorf("the cause is %v", context.Cause(late))
	}
	unlimited, cancel := terminal.WithTimeout(t.Context(), 0)
	defer cancel()
	if _, limited := unlimited.Deadline(); limited || unlimited.Err() != nil {
		t.Error("0 must be no limit")
	}
}

func TestPrintable(t *testing.T) {
	if got := terminal.Printable("a\x1b[2Jé\n\u009b"); got != "a?[2Jé??" {
		t.Errorf("got %q", got)
	}
}

// TestNothingReachesTheTerminal: control characters, also those of 8 bits, and what turns
// the direction of writing around.
func TestNothingReachesTheTerminal(t *testing.T) {
	const evil = "a\x1b[2J\u009b\u202e\u2066\u2028\tb\nä"
	if got := terminal.Printable(evil); got != "a?[2J?????b?ä" {
		t.Errorf("%q", got)
	}
	if got := terminal.PrintableLines(evil); got != "a?[2J????\tb\nä" {
		t.Errorf("%q", got)
	}
}

// TestProgramsReadEverything: what is printed for programs does nothing to a terminal,
// and is still what it was.
func TestProgramsReadEverything(t *testing.T) {
	const evil = "a\x1b[2J\u009b\u202e\u2066\u2028\tb\nä"
	for _, test := range []struct {
		reason string
		write  func(io.Writer, any) error
		read   func([]byte, any) error
	}{
		{"JSON on one line", func(out io.Writer, value any) error { return json.NewEncoder(terminal.JSON(out)).Encode(value) }, json.Unmarshal},
		{"JSON on several lines", terminal.WriteJSON, json.Unmarshal},
		{"YAML", terminal.WriteYAML, func(text []byte, into any) error { return yaml.Unmarshal(text, into) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var out strings.Builder
			want := map[string]any{"x": evil, evil: []any{"<<", evil}}
			if err := test.write(&out, want); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", out.String())
			}
			var got map[string]any
			if err := test.read([]byte(out.String()), &got); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %q", err, out.String())
			}
		})
	}
}

// TestSilent: an exit code without a message.
func TestSilent(t *testing.T) {
	err := terminal.Silent(terminal.ExitEndedBadly)
	if terminal.ExitCode(err, true) != 2 || err.Error() != "" {
		t.Error(err)
	}
}

// TestLinesOfOthers: progress that repeats what a cluster says.
func TestLinesOfOthers(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"lines stay lines", "a\n\tb\n", "a\n\tb\n"},
		{"nothing acts on the terminal", "waiting: \x1b[2J\u202e\r\n", "waiting: ?[2J??\n"},
		{"letters stay letters", "größer 長\n", "größer 長\n"},
		{"nothing", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var out strings.Builder
			if n, err := terminal.Lines(&out).Write([]byte(test.text)); n != len(test.text) || err != nil || out.String() != test.want {
				t.Errorf("%q, %d, %v", out.String(), n, err)
			}
		})
	}
}

// TestOneLine: a message of several lines in one.
func TestOneLine(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"lines become one", " a\n\n b\tc ", "a b c"},
		{"nothing acts on the terminal", "a\x1b[2Jb", "a?[2Jb"},
		{"the line separator of Unicode", "a\u2028b", "a b"},
		{"nothing", " \n", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := terminal.OneLine(test.text); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}
