package outside

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// System are the functions that write files, run commands and read the environment.
var System = []call.Function{
	{Name: "write", Usage: "write(path, data [, option…])", Result: "string", Min: 2, Max: -1, Run: write,
		Doc: "Writes a file and returns the written text. Lists and maps are written as YAML. Options: a permission " +
			"(integer or octal text), `binary` or `#` (data is base64), `multiyaml` (a list is a document stream)."},
	{Name: "tempfile", Usage: "tempfile(data [, option…])", Result: "string", Min: 1, Max: -1, Run: tempFile,
		Doc: "Writes a temporary file that is removed after the run, and returns its path."},
	{Name: "mkdir", Usage: "mkdir(path or list [, permission])", Result: "string", Min: 1, Max: 2, Run: makeDir,
		Doc: "Makes a directory with its parents and returns its path."},
	{Name: "exec", Usage: "exec(command, argument…) or exec(list)", Result: "value", Min: 1, Max: -1, Run: execute(false, true),
		Doc: "Runs a command. Lists and maps are passed as YAML text. Output that is a YAML map, list or integer is " +
			"parsed, other output is text without trailing line breaks. The result is kept for equal calls."},
	{Name: "exec_uncached", Usage: "exec_uncached(command, argument…)", Result: "value", Min: 1, Max: -1, Run: execute(false, false),
		Doc: "As `exec`, but runs the command on every call."},
	{Name: "pipe", Usage: "pipe(data, command, argument…)", Result: "value", Min: 2, Max: -1, Run: execute(true, true),
		Doc: "As `exec`, with data on the standard input of the command."},
	{Name: "pipe_uncached", Usage: "pipe_uncached(data, command, argument…)", Result: "value", Min: 2, Max: -1, Run: execute(true, false),
		Doc: "As `pipe`, but runs the command on every call."},
	{Name: "env", Usage: "env(name) or env(name…) or env(list)", Result: "string or map", Min: 1, Max: -1, Run: env,
		Doc: "An environment variable (unset is an error), or a map of those that are set."},
}

func init() {
	for i := range System {
		System[i].Access = call.Full
	}
}

// content is how data is written: texts as they are, the rest as YAML.
func content(v value.Value) (string, error) {
	if text, ok := text.Simple(v); ok {
		return text, nil
	}
	return yamlio.YAML(v)
}

// writeOptions are permission and encoding of a file.
func writeOptions(c *call.Call, from int, data value.Value) (text string, raw []byte, perm fs.FileMode, err error) {
	perm = 0o644
	binary, multi := false, false
	for i := from; i < c.Len(); i++ {
		switch v := c.Args[i].(type) {
		case value.Int:
			if v < 0 || v > math.MaxUint32 {
				return "", nil, 0, c.Failf("%d is no permission", v)
			}
			perm = fs.FileMode(v)
			continue
		case value.String:
			switch v.Text {
			case "binary", "#":
				binary = true
				continue
			case "multiyaml":
				multi = true
				continue
			}
			if n, err := strconv.ParseUint(v.Text, 8, 32); err == nil {
				perm = fs.FileMode(n)
				continue
			}
		}
		return "", nil, 0, c.Failf("unknown option %s", c.Show(c.Args[i]))
	}
	if text, err = contentOf(data, multi); err != nil {
		return "", nil, 0, c.Failf("%w", c.Because(err))
	}
	raw = []byte(text)
	if binary {
		if raw, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), "")); err != nil {
			return "", nil, 0, c.Failf("binary data must be base64 text")
		}
	}
	return text, raw, perm, nil
}

func contentOf(v value.Value, multi bool) (string, error) {
	list, ok := v.(*value.List)
	if !multi || !ok {
		return content(v)
	}
	var b strings.Builder
	for _, n := range list.Items {
		text, err := yamlio.YAML(n.Value)
		if err != nil {
			return "", err
		}
		b.WriteString("---\n" + text)
	}
	return b.String(), nil
}

func write(c *call.Call) (value.Value, error) {
	path, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	text, raw, perm, err := writeOptions(c, 2, c.Args[1])
	if err != nil {
		return nil, err
	}
	if err := c.Settings().System.WriteFile(path, raw, perm); err != nil {
		return nil, c.Failf("%w", c.Because(err))
	}
	return value.Text(text), nil
}

func tempFile(c *call.Call) (value.Value, error) {
	_, raw, perm, err := writeOptions(c, 1, c.Args[0])
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("tempfile %o %s", perm, raw)
	return c.Cached(key, func() (value.Value, error) {
		path, err := c.Settings().System.TempFile(raw, perm)
		if err != nil {
			return nil, c.Failf("%w", c.Because(err))
		}
		return value.Text(path), nil
	})
}

func makeDir(c *call.Call) (value.Value, error) {
	steps, err := c.Texts(0)
	if err != nil {
		return nil, err
	}
	_, _, perm, err := writeOptions(c, 1, value.Text(""))
	if err != nil {
		return nil, err
	}
	if c.Len() == 1 {
		perm = 0o755
	}
	path := strings.Join(steps, "/")
	if err := c.Settings().System.MakeDir(path, perm); err != nil {
		return nil, c.Failf("%w", c.Because(err))
	}
	return value.Text(path), nil
}

func execute(piped, cached bool) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		args := c.Args
		var stdin []byte
		if piped {
			text, err := content(args[0])
			if err != nil {
				return nil, c.Failf("%w", c.Because(err))
			}
			stdin, args = []byte(text), args[1:]
		}
		if list, ok := args[0].(*value.List); ok && len(args) == 1 {
			args = nil
			for _, n := range list.Items {
				args = append(args, n.Value)
			}
		}
		command := make([]string, len(args))
		for i, a := range args {
			text, err := content(a)
			if err != nil {
				return nil, c.Failf("%w", c.Because(err))
			}
			command[i] = text
		}
		if len(command) == 0 || command[0] == "" {
			return nil, c.Failf("no command is given")
		}
		run := func() (value.Value, error) { return runCommand(c, stdin, command) }
		if !cached {
			return run()
		}
		return c.Cached(fmt.Sprintf("exec %q %q", stdin, command), run)
	}
}

func runCommand(c *call.Call, stdin []byte, command []string) (value.Value, error) {
	out, err := c.Settings().System.Run(c.Context(), stdin, command)
	if err != nil {
		return nil, c.Failf("%w", c.Because(err))
	}
	return output(out), nil
}

// output interprets the output of a command.
func output(out []byte) value.Value {
	text := strings.TrimRight(string(out), "\n")
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
		return value.Int(n)
	}
	n, err := yamlio.ReadOne(out, "output", true)
	if err == nil {
		switch n.Value.(type) {
		case *value.Map, *value.List:
			return n.Value
		}
		if strings.HasPrefix(text, "---") {
			return n.Value
		}
	}
	return value.Data(text)
}

func env(c *call.Call) (value.Value, error) {
	system := c.Settings().System
	if name, ok := c.Args[0].(value.String); ok && c.Len() == 1 {
		text, ok := system.Env(name.Text)
		if !ok {
			return nil, c.Failf("environment variable %s is not set", c.Show(name))
		}
		return value.Data(text), nil
	}
	b := value.NewBuilder(c.Len())
	b.Data = true
	for i := range c.Args {
		names, err := c.Texts(i)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if text, ok := system.Env(name); ok {
				b.SetValue(name, value.Data(text))
			}
		}
	}
	return b.Map(), nil
}
