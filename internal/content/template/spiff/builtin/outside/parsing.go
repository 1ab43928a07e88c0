package outside

import (
	"encoding/base64"
	"path"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Documents are the functions that read documents.
var Documents = []call.Function{
	{Name: "parse", Usage: "parse(text [, mode])", Result: "value", Min: 1, Max: 2, Keeps: true, Run: parse,
		Doc:     "Reads YAML or JSON text. The modes are those of `read`; the default is `import`.",
		Example: `parse("a: [1, 2]").a[1]`, Gives: `2`},
	{Name: "features", Usage: "features([name])", Result: "list or bool", Min: 0, Max: 1, Run: features,
		Doc: "The language features that are switched on, or whether one of them is.", Example: `features("control")`, Gives: `false`},
}

// Files are the functions that look at files.
var Files = []call.Function{
	{Name: "read", Tier: 1, Access: call.Files, Usage: "read(path [, mode])", Result: "value", Min: 1, Max: 2, Keeps: true, Run: readCached,
		Doc: "The content of a file. Modes: `yaml` (default for .yaml, .yml and .json; evaluated at this place, " +
			"`.yaml` with absolute references into the file itself), `multiyaml` and `.multiyaml` (list of documents), " +
			"`text` (default for others), `binary` (base64), `template`, `templates`, `import` and `importmulti` " +
			"(evaluated as part of this document)."},
	{Name: "read_uncached", Tier: 1, Access: call.Files, Usage: "read_uncached(path [, mode])", Result: "value", Min: 1, Max: 2, Keeps: true, Run: readUncached,
		Doc: "As `read`, but reads the file on every call."},
	{Name: "list_files", Access: call.Files, Usage: "list_files(directory)", Result: "list", Min: 1, Max: 1, Run: listDir(false),
		Doc: "The names of the files of a directory, sorted."},
	{Name: "list_dirs", Access: call.Files, Usage: "list_dirs(directory)", Result: "list", Min: 1, Max: 1, Run: listDir(true),
		Doc: "The names of the directories in a directory, sorted."},
	{Name: "lookup_file", Access: call.Files, Usage: "lookup_file(name, directory…)", Result: "list", Min: 1, Max: -1, Run: lookup(false),
		Doc: "The paths under which a file exists in the given directories."},
	{Name: "lookup_dir", Access: call.Files, Usage: "lookup_dir(name, directory…)", Result: "list", Min: 1, Max: -1, Run: lookup(true),
		Doc: "The paths under which a directory exists in the given directories."},
}

func features(c *call.Call) (value.Value, error) {
	enabled := c.Settings().Features
	if c.Len() == 0 {
		return call.TextList(enabled), nil
	}
	name, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	for _, f := range enabled {
		if f == name {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

func parse(c *call.Call) (value.Value, error) {
	text, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	mode := "import"
	if c.Len() == 2 {
		if mode, err = c.Text(1); err != nil {
			return nil, err
		}
	}
	s, _ := c.Args[0].(value.String)
	return interpret(c, []byte(text), "parsed text", mode, s.Data)
}

func readCached(c *call.Call) (value.Value, error) {
	name, mode, err := readArguments(c)
	if err != nil {
		return nil, err
	}
	content, err := c.Cached("read "+name, func() (value.Value, error) {
		content, err := readContent(c, name)
		return value.Bytes(content), err
	})
	if err != nil {
		return nil, err
	}
	return interpret(c, content.(value.Bytes), name, mode, false)
}

func readUncached(c *call.Call) (value.Value, error) {
	name, mode, err := readArguments(c)
	if err != nil {
		return nil, err
	}
	content, err := readContent(c, name)
	if err != nil {
		return nil, err
	}
	return interpret(c, content, name, mode, false)
}

func readArguments(c *call.Call) (name, mode string, err error) {
	if name, err = c.Text(0); err != nil {
		return "", "", err
	}
	mode = "text"
	switch strings.ToLower(path.Ext(name)) {
	case ".yml", ".yaml", ".json":
		mode = "yaml"
	}
	if c.Len() == 2 {
		mode, err = c.Text(1)
	}
	return name, mode, err
}

// interpret makes a value of a text. Text that is data stays data, whatever
// the mode.
func interpret(c *call.Call, content []byte, name, mode string, data bool) (value.Value, error) {
	switch mode {
	case "text":
		return value.Data(string(content)), nil
	case "binary":
		return value.Data(text.Lines(base64.StdEncoding.EncodeToString(content), 60)), nil
	}
	docs, err := yamlio.Read(content, name, data)
	if err != nil {
		if c.Settings().Sensitive {
			return nil, c.Failf("text is no YAML")
		}
		return nil, c.Failf("%w", err)
	}
	handle, many := handling(c, mode)
	if handle == nil {
		return nil, c.Failf("unknown mode %s", c.Quote(mode))
	}
	if !many {
		if len(docs) != 1 {
			return nil, c.Failf("mode %s needs a single document, but there are %d", mode, len(docs))
		}
		return handle(docs[0])
	}
	for len(docs) > 0 && value.IsNull(docs[len(docs)-1].Value) {
		docs = docs[:len(docs)-1]
	}
	values := make([]value.Value, len(docs))
	for i, d := range docs {
		if values[i], err = handle(d); err != nil {
			return nil, err
		}
	}
	return value.ListOf(values...), nil
}

// handling returns how documents are handled in a mode, and whether there may be
// any number of them.
func handling(c *call.Call, mode string) (handle func(*value.Node) (value.Value, error), many bool) {
	raw := func(n *value.Node) (value.Value, error) { return n.Value, nil }
	process := func(n *value.Node) (value.Value, error) { return c.Process(n, strings.HasPrefix(mode, ".")) }
	switch mode {
	case "import":
		return raw, false
	case "importmulti":
		return raw, true
	case "template":
		return c.Template, false
	case "templates":
		return c.Template, true
	case "yaml", ".yaml":
		return process, false
	case "multiyaml", ".multiyaml":
		return process, true
	}
	return nil, false
}
