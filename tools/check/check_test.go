package check

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli"
	"go.landscaper.dev/internal/cli/terminal"
)

// actAs is the variable that makes this program the command line.
const actAs = "CHECK_TEST_ACT_AS"

func TestMain(m *testing.M) {
	if os.Getenv(actAs) != "" {
		os.Exit(cli.Run(context.Background(), terminal.Standard(), "landscaper-cli", os.Args[1:]))
	}
	os.Exit(m.Run())
}

// repository is a Git repository in a directory of its own.
type repository struct {
	directory, script string
	environment       []string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("check.sh")
	if err != nil {
		t.Fatal(err)
	}
	r := &repository{directory: t.TempDir(), script: script}
	r.environment = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", actAs+"=landscaper-cli", "LANDSCAPER_CLI="+program,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	r.git(t, "init", "--quiet", "--initial-branch", "main")
	return r
}

// run runs a program in a directory of the repository.
func (r *repository) run(t *testing.T, within string, environment []string, name string, args ...string) (code int, output string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = filepath.Join(r.directory, within), append(r.environment[:len(r.environment):len(r.environment)], environment...)
	text, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return command.ProcessState.ExitCode(), string(text)
}

func (r *repository) git(t *testing.T, args ...string) {
	t.Helper()
	if code, output := r.run(t, ".", nil, "git", args...); code != 0 {
		t.Fatalf("git %s: %s", strings.Join(args, " "), output)
	}
}

func (r *repository) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *repository) commit(t *testing.T) {
	t.Helper()
	r.git(t, "add", "--all")
	r.git(t, "commit", "--quiet", "--message", "change")
}

const (
	header = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"
	tests  = "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LandscapeTest\nblueprint: .\ncases: [{name: a, given: {imports: {size: 1}}}]\n"
)

// TestNames: no name of a directory keeps its blueprint from being compared, or is taken for anything else.
func TestNames(t *testing.T) {
	names := []string{"--notes", "-n", "two\nlines", "end\n", `quo"te`, `back\slash`, "$(touch x)", ":!other", "::error::x", "*", "größe", "a/b c"}
	r := newRepository(t)
	for _, name := range names {
		r.write(t, map[string]string{name + "/blueprint.yaml": header})
	}
	r.commit(t)
	for _, name := range names {
		r.write(t, map[string]string{name + "/blueprint.yaml": header + "imports: [{name: size, schema: {}}]\n"})
	}
	for _, one := range append([]string{""}, names...) {
		args, want := []string{"compare", "--base", "HEAD"}, len(names)
		if one != "" {
			args, want = append(args, one+"/blueprint.yaml"), 1
		}
		code, output := r.run(t, ".", nil, r.script, args...)
		if found := strings.Count(output, "breaking: import size: it is new and required\n"); code != 2 || found != want || strings.Contains(output, "\n::") {
			t.Errorf("%q: %d, %d of %d: %s", one, code, found, want, output)
		}
	}
	outside := []string{"GIT_DIR=" + t.TempDir()}
	if code, output := r.run(t, ".", outside, r.script, "validate"); code == 0 || strings.Contains(output, "There is no blueprint") {
		t.Errorf("without a repository: %d: %s", code, output)
	}
	if code, output := r.run(t, ".", nil, r.script, "validate"); code != 0 || strings.Count(output, "validated without errors") != len(names) {
		t.Errorf("%d: %s", code, output)
	}
}

// TestChecks has a branch that changes two of three blueprints, one of them so that users break.
func TestChecks(t *testing.T) {
	r := newRepository(t)
	r.write(t, map[string]string{
		"a shop/blueprint.yaml": header + "imports: [{name: size, schema: {type: integer}}]\n", "a shop/notes.txt": "x",
		"portal/blueprint.yaml": header + "imports: [{name: size, schema: {type: integer, minimum: 3}}]\n",
		"same/blueprint.yaml":   header,
		"README.md":             "x",
	})
	r.commit(t)
	r.git(t, "checkout", "--quiet", "-b", "change")
	r.write(t, map[string]string{
		"a shop/blueprint.yaml": header + "imports: [{name: size, schema: {type: integer}}, {name: color, schema: {}}]\n",
		"portal/blueprint.yaml": header + "imports: [{name: size, schema: {type: integer}}]\n", "portal/size_test.yaml": tests,
		"new/blueprint.yaml": header + "imports: [{name: size, schema: {}}]\n",
	})
	r.commit(t)
	const broken = "blueprint a\\ shop:\nbreaking: import color: it is new and required\nNot compatible: 1 breaking"
	for _, test := range []struct {
		reason, within, args string
		environment          []string
		code                 int
		want                 string
		not                  string
	}{
		{"all blueprints are valid", ".", "validate", nil, 0, "same: Blueprint validated without errors\n", ""},
		{"those of some files", ".", "validate|a shop/notes.txt|README.md", nil, 0, "Blueprint validated without errors\n", "portal"},
		{"files of no blueprint", ".", "validate|README.md", nil, 0, "There is no blueprint to validate.\n", ""},
		{"the tests", ".", "test", nil, 0, "1 passed, 0 failed", ""},
		{"no tests", "same", "test", nil, 0, "There are no tests.\n", ""},
		{"the branch breaks users", ".", "compare|--base|main", nil, 2, broken, "new:"},
		{"the other blueprint is compatible", ".", "compare|--base|main|portal/blueprint.yaml", nil, 0, "blueprint portal:\nCompatible: 0 breaking", "a shop"},
		{"what breaks is allowed", ".", "compare", []string{"LANDSCAPER_BASE=main", "LANDSCAPER_ALLOW_BREAKING=true"}, 0, broken, ""},
		{"a blueprint by its own directory", "a shop", "compare|--base|main", nil, 2, "blueprint .:\nbreaking: import color", ""},
		{"nothing has changed", ".", "compare|--base|HEAD", nil, 0, "No blueprint has changed since ", ""},
		{"a commit that is not there", ".", "compare|--base|elsewhere", nil, 64, "there is no commit elsewhere", ""},
		{"no check", ".", "", nil, 64, "validate, test or compare", ""},
		{"an unknown check", ".", "inspect", nil, 64, "inspect is not a check", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var args []string
			if test.args != "" {
				args = strings.Split(test.args, "|")
			}
			code, output := r.run(t, test.within, test.environment, r.script, args...)
			if code != test.code || !strings.Contains(output, test.want) || (test.not != "" && strings.Contains(output, test.not)) {
				t.Errorf("code %d: %s", code, output)
			}
		})
	}
	t.Run("what is not committed yet", func(t *testing.T) {
		r.write(t, map[string]string{"same/blueprint.yaml": header + "imports: [{name: late, schema: {}}]\n", "portal/size_test.yaml": strings.Replace(tests, "size: 1", "size: x", 1)})
		if code, output := r.run(t, ".", nil, r.script, "compare"); code != 2 || !strings.Contains(output, "same:\nbreaking: import late") {
			t.Errorf("code %d: %s", code, output)
		}
		if code, output := r.run(t, ".", nil, r.script, "test"); code != 2 || !strings.Contains(output, "0 passed, 1 failed") {
			t.Errorf("code %d: %s", code, output)
		}
		r.write(t, map[string]string{"same/blueprint.yaml": header + "imports: [{name: a, type: what}]\n"})
		if code, output := r.run(t, ".", nil, r.script, "validate", "same/blueprint.yaml"); code == 0 || !strings.Contains(output, "imports[0]") {
			t.Errorf("code %d: %s", code, output)
		}
	})
}

// TestAction runs the steps of the action as the runner does, with another program for downloads.
func TestAction(t *testing.T) {
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	readYAML(t, "../../action.yml", &action)
	if action.Runs.Using != "composite" || len(action.Runs.Steps) != 2 {
		t.Fatalf("%+v", action)
	}
	r := newRepository(t)
	r.write(t, map[string]string{"blueprint.yaml": header, "size_test.yaml": strings.Replace(tests, "given: {imports: {size: 1}}", "expect: {exports: {}}", 1)})
	r.commit(t)
	path, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"GITHUB_ACTION_PATH=" + path, "CHECKS=" + action.Inputs["checks"].Default, "LANDSCAPER_BASE=", "LANDSCAPER_ALLOW_BREAKING=false", "LANDSCAPER_STRICT="}
	check := action.Runs.Steps[1]
	for name := range check.Env {
		if !strings.Contains(strings.Join(environment, " "), name+"=") {
			t.Errorf("the variable %s is not known here", name)
		}
	}
	code, output := r.run(t, ".", environment, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check.Run)
	for _, want := range []string{"::group::validate\nBlueprint validated", "::group::test\n1 passed", "::group::compare\nNo blueprint has changed"} {
		if code != 0 || !strings.Contains(output, want) {
			t.Fatalf("code %d, %s", code, output)
		}
	}
	r.write(t, map[string]string{"blueprint.yaml": header + "imports: [{name: a, schema: {}}]\n"})
	code, output = r.run(t, ".", environment, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", check.Run)
	if code != 2 || !strings.Contains(output, "::error::The check compare has failed with code 2.") {
		t.Errorf("code %d, %s", code, output)
	}
}

// TestInstall: an archive is installed only with the sum of the release.
func TestInstall(t *testing.T) {
	r := newRepository(t)
	const files = `set -eu; mkdir -p bin v0.1.0; echo "echo installed" > landscaper-cli; chmod +x landscaper-cli
case $(uname -m) in x86_64) m=amd64 ;; *) m=arm64 ;; esac
name=landscaper-cli_v0.1.0_$(uname -s | tr A-Z a-z)_$m.tar.gz; tar czf "v0.1.0/$name" landscaper-cli; cd v0.1.0; sha256sum "$name" > checksums.txt`
	if code, output := r.run(t, ".", nil, "bash", "-c", files); code != 0 {
		t.Fatal(output)
	}
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	if code, output := r.run(t, ".", nil, script, "v0.1.0", "file://"+r.directory, "bin"); code != 0 {
		t.Errorf("code %d, %s", code, output)
	}
	if code, output := r.run(t, ".", nil, "bash", "bin/landscaper-cli"); code != 0 || output != "installed\n" {
		t.Errorf("code %d, %s", code, output)
	}
	r.write(t, map[string]string{"v0.1.0/checksums.txt": strings.Repeat("0", 64) + "  landscaper-cli_v0.1.0_linux_amd64.tar.gz\n"})
	if code, output := r.run(t, ".", nil, script, "v0.1.0", "file://"+r.directory, "other"); code != 1 || !strings.Contains(output, "is not that of the release") {
		t.Errorf("code %d, %s", code, output)
	}
}

// TestHooks: each hook of pre-commit runs a check that exists.
func TestHooks(t *testing.T) {
	var hooks []struct{ ID, Entry, Language string }
	readYAML(t, "../../.pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 3 {
		t.Fatalf("%+v", hooks)
	}
	for _, hook := range hooks {
		script, check, _ := strings.Cut(hook.Entry, " ")
		info, err := os.Stat(filepath.Join("../..", script))
		if err != nil || info.Mode()&0o111 == 0 || hook.Language != "script" || hook.ID != "landscaper-"+check {
			t.Errorf("%+v: %v", hook, err)
		}
	}
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
