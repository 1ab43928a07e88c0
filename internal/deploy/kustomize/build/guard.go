package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/base/yamltext"
)

// overlayName is the directory of what the item says itself.
const overlayName = "item"

// guard reads a source for the library.
type guard struct {
	ctx   context.Context // lives for one build
	files *memfs.Tree
	// to is what the library reads.
	to filesys.FileSystem
	// known are the directories that were read; a nil one is being read.
	known map[string]*part
	// placed are the files that the library got, by the names that it knows.
	placed map[string]string
	// values are what messages must not repeat, names are what they may.
	values []any
	names  []string
	// patched are the entries of patches without a target, by the objects that they change as
	// the library names these.
	patched map[string]string
}

// part is a kustomization or a directory that was passed to the library.
type part struct {
	at string
	// id is its name for the library.
	id string
	// component says that it changes the objects of its includer.
	component bool
}

// name is how the library includes it. It begins with dots, so that the library never takes it for
// an address.
func (p *part) name() string { return "../" + p.id }

// include refuses a kustomization of the wrong kind.
func (p *part) include(other *part, asComponent bool) error {
	if other.component != asComponent {
		kind := map[bool]string{true: "components", false: "resources"}
		return fmt.Errorf("%s includes %s among its %s: it belongs to its %s", p.at, other.at, kind[asComponent], kind[other.component])
	}
	return nil
}

// find returns what is at a path of the source. A link is refused wherever it is on
// the way.
func (g *guard) find(name string) (fs.FileInfo, error) {
	if !fs.ValidPath(name) {
		return nil, errors.New("it leads out of the source")
	}
	for end := 0; end <= len(name); end++ {
		if end < len(name) && name[end] != '/' {
			continue
		}
		info, err := g.files.Lstat(name[:end])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errors.New("there is no such file or directory in the source")
		case err != nil:
			return nil, errors.New("it goes through a file as if it were a directory")
		case info.Mode().Type() == fs.ModeSymlink:
			return nil, fmt.Errorf("%q is a link: links are refused, name the file itself", name[:end])
		case end == len(name):
			return info, nil
		}
	}
	return nil, fs.ErrNotExist
}

// join returns the place in the source that a kustomization in a directory means.
func join(directory, name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("it is empty")
	case path.IsAbs(name):
		return "", errors.New("it must be relative to the kustomization")
	case strings.ContainsRune(name, 0):
		return "", errors.New("it is not a path")
	}
	return path.Join(directory, name), nil
}

// missing explains why a path leads to nothing that can be used.
func missing(name string, err error) error {
	if remote(name) {
		return errors.New("it is an address: only files of the source can be used, so put what is there into the source")
	}
	return err
}

// remote guesses whether the user means an address. It is for messages only.
func remote(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(name, "://") || strings.Contains(name, "?") || strings.ContainsAny(first, ":@") || first == "github.com"
}

// text reads a file of the source.
func (g *guard) text(name string) ([]byte, error) {
	if err := g.ctx.Err(); err != nil {
		return nil, fmt.Errorf("the job is over: %w", err)
	}
	info, err := g.find(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is a directory, not a file")
	}
	return g.files.ReadFile(name) // the caller names the file
}

// maxText is how long a text with its aliases may be.
const maxText = 8 << 20

// documents reads the YAML documents of a text. Aliases are resolved: what the library gets has
// none.
func (g *guard) documents(text []byte) ([][]byte, error) {
	// YAML 1.2 as in kustomize: yes and no are texts.
	limits := yamltext.Limits{Text: maxText, Values: 250_000, Bytes: maxText, Depth: 100, OnlyTrue: true}
	found, err := yamltext.Documents(text, limits)
	if err != nil {
		return nil, err // says what is wrong
	}
	var all [][]byte
	for _, document := range found {
		raw, err := document.JSON()
		if err != nil {
			return nil, err // says what is wrong
		}
		all = append(all, raw)
	}
	return all, nil
}

// objectsOf reads the objects of a text, and what they may be called in messages.
func (g *guard) objectsOf(text []byte) (documents [][]byte, err error) {
	documents, err = g.documents(text)
	if err != nil {
		return nil, err
	}
	for i, raw := range documents {
		var content map[string]any
		if err := json.Unmarshal(raw, &content); err != nil {
			return nil, fmt.Errorf("document %d is not an object", i+1)
		}
		for _, field := range []string{"apiVersion", "kind"} {
			if name, _ := content[field].(string); name == "" {
				return nil, fmt.Errorf("document %d has no %s", i+1, field)
			}
		}
		if err := checkList(content, ""); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		g.note(content)
	}
	return documents, nil
}

// checkList refuses an object that only looks like a list to the library: the library would drop
// its content silently.
func checkList(content map[string]any, at string) error {
	items, hasItems := content["items"]
	if kind, _ := content["kind"].(string); !hasItems || !strings.HasSuffix(kind, "List") {
		return nil
	}
	list, isList := items.([]any)
	if !isList {
		return fmt.Errorf("%sitems must be a list of objects", at)
	}
	for i, item := range list {
		object, isObject := item.(map[string]any)
		if !isObject || len(object) == 0 {
			return fmt.Errorf("%sitems[%d] must be an object", at, i)
		}
		if err := checkList(object, fmt.Sprintf("%sitems[%d].", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// place writes the text of a file for the library and returns its name in a directory.
func (g *guard) place(directory, file string, text []byte) (string, error) {
	name := fmt.Sprintf("f%d.yaml", len(g.placed)+1)
	if err := g.to.WriteFile("/"+directory+"/"+name, text); err != nil {
		return "", fmt.Errorf("pass it to kustomize: %w", err)
	}
	g.placed["./"+name] = file
	return "./" + name, nil
}

// joined writes documents as one text.
func joined(documents [][]byte) []byte {
	var text []byte
	for i, document := range documents {
		if i > 0 {
			text = append(text, "\n---\n"...)
		}
		text = append(text, document...)
	}
	return text
}

// kustomizationNames are the names of kustomization files.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// kustomizationIn returns the kustomization file of a directory, "" if it has none.
func (g *guard) kustomizationIn(directory string) (string, error) {
	var found []string
	for _, name := range kustomizationNames {
		if _, err := g.files.Lstat(path.Join(directory, name)); err == nil {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return path.Join(directory, found[0]), nil
	}
	return "", fmt.Errorf("%s has several kustomization files: %s", called(directory), strings.Join(found, ", "))
}

// isManifest reports whether a file is deployed where no kustomization file exists.
func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, path.Ext(name))
}
