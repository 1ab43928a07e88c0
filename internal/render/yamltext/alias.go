package yamltext

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxExpanded bounds what aliases may make of a text.
const maxExpanded = 16 << 20

// checkAliases refuses a text whose aliases repeat so much that the JSON of it
// would be huge. Texts without aliases are not even parsed.
func checkAliases(text []byte) error {
	if !bytes.ContainsRune(text, '&') || !bytes.ContainsRune(text, '*') {
		return nil
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return explain(err)
	}
	expanded := &expansion{sizes: map[*yaml.Node]int{}}
	size := expanded.of(&root)
	switch {
	case expanded.cyclic:
		return &Error{Reason: "an anchor contains itself"}
	case size > maxExpanded:
		return &Error{Reason: fmt.Sprintf("with its aliases the text is longer than %d bytes", maxExpanded)}
	}
	return nil
}

// expansion computes how long nodes are after their aliases are followed.
type expansion struct {
	sizes  map[*yaml.Node]int
	cyclic bool
}

// unfinished is the size of a node whose children are being looked at.
const unfinished = -1

func (e *expansion) of(node *yaml.Node) int {
	if size, known := e.sizes[node]; known {
		e.cyclic = e.cyclic || size == unfinished
		return size
	}
	e.sizes[node] = unfinished
	size := len(node.Value) + 4
	if node.Alias != nil {
		size = e.of(node.Alias)
	}
	for _, child := range node.Content {
		if size += e.of(child); size > maxExpanded {
			break
		}
	}
	e.sizes[node] = size
	return size
}
