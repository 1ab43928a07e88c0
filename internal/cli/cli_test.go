package cli

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/cli/commandline/commandlinetest"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

func TestCommandLine(t *testing.T) {
	strictly := map[string]string{terminal.ExitCodesVariable: "2"}
	tests := []struct {
		reason      string
		args        string
		environment map[string]string
		code        int
		out, err    string
	}{
		{"without a command, help", "", nil, 0, "Available Commands", ""},
		{"help of the group says all that it is for", "inst", nil, 0, "(inspect, events, logs, graph), their past\n(history, diff), see before what a job would change (plan), create", ""},
		{"an old command knows 0 and 1 only", "installations inspect a b", nil, 1, "", `Error: "b" is too much`},
		{"an old command knows all exit codes with the flag", "installations inspect a b --strict-exit-codes", nil, 64, "", `"b" is too much`},
		{"an old command knows all exit codes with the environment variable", "installations inspect a b", strictly, 64, "", `"b" is too much`},
		{"a new command always tells", "installations wait", nil, 64, "", "Error: installationName was not defined: NAME is missing: name the Installation\n"},
		{"a new command does so under its short name", "wait", nil, 64, "", "installationName was not defined"},
		{"an unknown flag", "wait a --nonsense", nil, 64, "", "unknown flag: --nonsense"},
		{"a name is needed", "i reconcile", nil, 1, "", "installationName was not defined"},
		{"an empty name is refused", "i interrupt \"\"", nil, 1, "", "installationName was not defined"},
		{"an unknown goal", "wait a --for glory", nil, 64, "", `invalid option for '--for' flag: "glory": use one of succeeded, failed, finished, deleted`},
		{"an unknown mode", "inst inspect -o xml", nil, 1, "", `Error: invalid option for '--output'/'-o' flag: "xml"` + "\n"},
		{"two modes", "inst inspect -y -w", nil, 1, "", "no more than one output mode may be set: yaml=true, json=false, wide=true"},
		{"a name and all namespaces", "inst status -A a", nil, 1, "", "the --all-namespaces option cannot be used when an installation name is provided"},
		{"a watch has no end in JSON", "inst i -W -o json", nil, 64, "", "--watch shows trees only"},
		{"until without watch", "inst i --until finished", nil, 1, "", "--until needs --watch"},
		{"until something else", "inst i -W --until later", nil, 64, "", "use finished"},
		{"names of another kind", "inst i --names nick", nil, 1, "", "use object or template"},
		{"no kubeconfig", "inspect --kubeconfig /does/not/exist", nil, 1, "", "read kubeconfig: stat /does/not/exist: no such file or directory"},
		{"the former logger flags", "version -o short --cli --dev --disable-caller --disable-timestamp --disable-stacktrace -v 3", nil, 0, "development", ""},
		{"version under its alias", "v", nil, 0, "\nLandscaper-CLI Version: development", ""},
		{"version for programs", "version -o json", nil, 0, `{"version":"development`, ""},
		{"version in another form", "version -o xml", nil, 1, "", "use short, json or yaml"},
		{"a script for a shell", "completion bash", nil, 0, "bash completion V2 for landscaper-cli", ""},
		{"a command that a group does not have", "inst vanish", nil, 1, "", `Error: unknown command "vanish" for "landscaper-cli installations"` + "\n"},
		{"the group of another language does not have it, either", "spiff vanish", nil, 1, "", `Error: unknown command "vanish" for "landscaper-cli spiff"` + "\n"},
		{"the console is of a cluster, not of an Installation", "console a", nil, 64, "", `"a" is too much`},
		{"the console at a port that does not exist", "console --port 70000", nil, 64, "", `invalid argument "70000" for "--port"`},
		{"an unknown shell", "completion tcsh", nil, 1, "", `invalid argument "tcsh"`},
		{"no shell", "completion", nil, 1, "", "bash|zsh|fish|powershell is missing"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{Environment: test.environment}
			code := Run(t.Context(), c.Streams(), programName, terminaltest.Fields(test.args))
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			if out := c.Out.String(); !strings.Contains(out, test.out) || test.out == "" && out != "" {
				t.Errorf("printed %q, want %q", out, test.out)
			}
			if err := c.Err.String(); !strings.Contains(err, test.err) || test.err == "" && err != "" {
				t.Errorf("complained %q, want %q", err, test.err)
			}
		})
	}
}

func TestHelpOfAllCommands(t *testing.T) {
	c := &terminaltest.Console{}
	pending := []string{""}
	for len(pending) > 0 {
		path := pending[0]
		pending = pending[1:]
		root := NewCommand(c.Streams())
		command, _, err := root.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		if command.Short == "" || strings.HasSuffix(command.Short, ".") {
			t.Errorf("%q: short description %q", path, command.Short)
		}
		if command.Runnable() && !command.HasSubCommands() && !command.HasExample() {
			t.Errorf("%q has no example", path)
		}
		if strings.Contains(command.Example, "landscaper-cli") == false && command.HasExample() {
			t.Errorf("%q: the example does not call the program", path)
		}
		for _, child := range command.Commands() {
			if child.Hidden {
				continue // no user calls it
			}
			pending = append(pending, strings.TrimSpace(path+" "+child.Name()))
		}
	}
}

// TestProposals: what a shell proposes without a cluster. ":0" lets it propose files,
// ":4" does not.
func TestProposals(t *testing.T) {
	for _, test := range []struct{ reason, line, want string }{
		{"forms of the output", "inspect -o ", "wide\nyaml\njson\ntree-json\n:4\n"},
		{"names", "inst inspect --names ", "object\ntemplate\n:4\n"},
		{"the end of a watch", "inspect -W --until ", "finished\n:4\n"},
		{"goals", "wait --for ", "succeeded\nfailed\nfinished\ndeleted\n:4\n"},
		{"types of events", "inst events --types ", "Normal\nWarning\n:4\n"},
		{"forms of a version", "version -o ", "short\njson\nyaml\n:4\n"},
		{"forms of a picture", "graph -o ", "text\ndot\nmermaid\nsvg\njson\n:4\n"},
		{"shells", "completion ", "bash\nzsh\nfish\npowershell\n:4\n"},
		{"no files where a name belongs", "targets create self --name ", ":4\n"},
		{"no files behind a command without arguments", "doctor ", ":4\n"},
		{"no files where a time belongs", "wait shop --timeout ", ":4\n"},
		{"files where a file belongs", "inst apply -f ", ":0\n"},
		{"a kubeconfig", "inspect --kubeconfig ", ":0\n"},
		{"a directory of a blueprint", "blueprints validate ", ":0\n"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := &terminaltest.Console{}
			args := append([]string{"__complete"}, strings.Split(test.line, " ")...)
			if code := Run(t.Context(), c.Streams(), programName, args); code != 0 || c.Out.String() != test.want {
				t.Errorf("code %d, %q, want %q", code, c.Out.String(), test.want)
			}
		})
	}
}

// TestReference: each command that can be run is on the page, and "make verify" compares
// the page with the stored one.
func TestReference(t *testing.T) {
	var page strings.Builder
	if err := Reference(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## landscaper-cli installations plan\n", "## landscaper-cli targets create kubernetes-cluster\n", "| `-W, --watch` |", "## landscaper-cli doctor\n", "and the flags for a connection."} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Count(page.String(), "`--kubeconfig file`") != 1 {
		t.Error("the flags for a connection are not described once")
	}
}

// TestWrongCommandLines: what is wrong with a command line is said with its name.
func TestWrongCommandLines(t *testing.T) {
	c := &terminaltest.Console{}
	commandlinetest.Check(t, NewCommand(c.Streams()))
}
