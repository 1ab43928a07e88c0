package commandline

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestArguments(t *testing.T) {
	for _, test := range []struct {
		reason, use string
		given       []string
		want        string
	}{
		{"all are there", "get A B", []string{"1", "2"}, ""},
		{"an argument is missing", "get A B", []string{"1"}, "B is missing\nUsage:   program get A B\nExample: program get 1 2"},
		{"both arguments are missing", "get A B", nil, "A and B are missing"},
		{"all three arguments are missing", "get A B C", nil, "A, B and C are missing"},
		{"an empty argument is refused", "get A B", []string{"", "2"}, "A is empty"},
		{"too many arguments", "get A B", []string{"1", "2", "3"}, `"3" is too much`},
		{"none is taken", "get", []string{"1"}, `"1" is too much: the command takes no arguments`},
		{"an optional argument is given", "get [A]", []string{"1"}, ""},
		{"an optional argument is left out", "get [A]", nil, ""},
		{"an optional argument is empty", "get [A]", []string{""}, ""},
		{"an optional argument is given twice", "get [A]", []string{"1", "2"}, `"2" is too much`},
		{"several of one", "get A...", []string{"1", "2", "3"}, ""},
		{"a repeated argument is missing", "get A...", nil, "A is missing"},
		{"several of an optional one", "get A [B...]", []string{"1", "2", "3"}, ""},
		{"which is not missed", "get A [B...]", nil, "A is missing"},
		{"a flag is no argument", "get -f FILE", []string{"1"}, `"1" is too much`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := &cobra.Command{Use: "program"}
			command := &cobra.Command{Use: test.use, Example: "  # words\n  program get 1 \\\n    2\n  program get 3 4"}
			root.AddCommand(command)
			err := Arguments(command, test.given)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRefuseNegative(t *testing.T) {
	root, command := &cobra.Command{Use: "program"}, &cobra.Command{Use: "get"}
	root.AddCommand(command)
	number := command.Flags().Int("number", 3, "")
	limit := command.Flags().Duration("limit", time.Second, "")
	level := root.PersistentFlags().Int64("level", 0, "")
	text := command.Flags().String("text", "", "")
	RefuseNegative(root)
	RefuseNegative(root) // once more makes no difference
	for _, args := range [][]string{{"--number", "-1"}, {"--limit=-1ns"}, {"--level", "-5"}} {
		if err := command.ParseFlags(args); err == nil || !strings.Contains(err.Error(), `flag: write a value that is not below 0`) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if *number != 3 || *limit != time.Second || *level != 0 {
		t.Errorf("what was refused counts: %d, %s, %d", *number, *limit, *level)
	}
	if err := command.ParseFlags([]string{"--number", "7", "--limit", "0", "--level", "2", "--text", "-1"}); err != nil || *number != 7 || *limit != 0 || *level != 2 || *text != "-1" {
		t.Errorf("%d, %s, %d, %q, %v", *number, *limit, *level, *text, err)
	}
	if got, err := command.Flags().GetInt("number"); err != nil || got != 7 {
		t.Errorf("the type of the flag: %d, %v", got, err)
	}
}
