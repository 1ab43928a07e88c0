package lint

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/v1alpha1"
)

// place is a part of a file of a blueprint.
type place struct {
	// file is the file of the outermost blueprint, and document what is in it; nil
	// if that is not known.
	file     string
	document *yaml.Node
	// path is the field in the file; nil is the file as a whole.
	path *field.Path
}

// inFile returns the place of a file.
func inFile(files fs.FS, name string) place {
	p := place{file: strings.TrimPrefix(path.Clean("/"+name), "/")}
	text, err := fs.ReadFile(files, p.file)
	var document yaml.Node
	if err == nil && yaml.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		p.document = document.Content[0]
	}
	return p
}

// child returns the place of a field.
func (p place) child(name string, more ...string) place {
	if p.path == nil {
		p.path = field.NewPath(name, more...)
	} else {
		p.path = p.path.Child(name, more...)
	}
	return p
}

func (p place) index(i int) place {
	p.path = p.path.Index(i)
	return p
}

func (p place) key(key string) place {
	p.path = p.path.Key(key)
	return p
}

// inlineBlueprint returns the place of the blueprint in an inline file system.
func (p place) inlineBlueprint() place {
	return p.child("blueprint", "filesystem").key(v1alpha1.BlueprintFileName)
}

// within returns the place of a field whose path begins here.
func (p place) within(text string) place {
	for _, step := range steps(text) {
		switch i, err := strconv.Atoi(step.name); {
		case !step.bracketed:
			p = p.child(step.name)
		case p.path == nil:
			// A path never begins with a bracket.
		case err == nil:
			p = p.index(i)
		default:
			p = p.key(step.name)
		}
	}
	return p
}

func (p place) field() string {
	if p.path == nil {
		return ""
	}
	return p.path.String()
}

// line is where the field begins, or the closest field around it that can be
// found: a blueprint may be a text in another one, and a field may be missing.
func (p place) line() int {
	node := p.document
	if node == nil {
		return 0
	}
	line := node.Line
	for _, step := range steps(p.field()) {
		key, value := enter(node, step.name)
		if value == nil {
			break
		}
		node, line = value, key.Line
	}
	return line
}

// enter returns a field or element of a node, and what names it.
func enter(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}

type step struct {
	name      string
	bracketed bool
}

var stepPattern = regexp.MustCompile(`\[([^\]]*)\]|[^.\[\]]+`)

// steps divides the text of a path: imports[0].schema, or localTypes[a.b].
func steps(text string) []step {
	var all []step
	for _, match := range stepPattern.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(match[0], "[") {
			all = append(all, step{match[1], true})
			continue
		}
		all = append(all, step{match[0], false})
	}
	return all
}
