package yamltext

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Nodes returns all documents of a text as the library has them, aliases unresolved. The caller
// bounds the text before, and what aliases stand for. Its error is an *Error.
func Nodes(text []byte) ([]*yaml.Node, error) {
	var all []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		switch err := decoder.Decode(&document); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, problem(text, err)
		}
		all = append(all, &document)
	}
}

// parse returns the first document of a text, nil for a text without documents.
func parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, problem(text, err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

var located = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// notYAML is what is wrong with a text that holds none of the usual mistakes.
const notYAML = "the text is not YAML"

// mistakes are what the parser says about those that authors make, without a word of
// the text. It has no types for them; a test makes it say each.
var mistakes = map[string]bool{
	"mapping values are not allowed in this context":               true,
	"block sequence entries are not allowed in this context":       true,
	"did not find expected key":                                    true,
	"did not find expected '-' indicator":                          true,
	"did not find expected ',' or ']'":                             true,
	"did not find expected ',' or '}'":                             true,
	"did not find expected node content":                           true,
	"did not find expected <document start>":                       true,
	"did not find expected comment or line break":                  true,
	"did not find expected alphabetic or numeric character":        true,
	"could not find expected ':'":                                  true,
	"found character that cannot start any token":                  true,
	"found a tab character that violates indentation":              true,
	"found a tab character where an indentation space is expected": true,
	"found unexpected end of stream":                               true,
	"found unexpected document indicator":                          true,
	"found unknown escape character":                               true,
	"control characters are not allowed":                           true,
	"exceeded max depth of 10000":                                  true,
}

// unknownAnchor is what the parser says before the name of an anchor.
const unknownAnchor = "unknown anchor"

// problem keeps the position and the kind of an error of the parser, which has
// them only in its message.
func problem(text []byte, err error) *Error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return &Error{Reason: notYAML}
	}
	line, _ := strconv.Atoi(match[1])
	reason := notYAML
	switch {
	case !utf8.Valid(text):
		reason = "the text is not UTF-8"
	case mistakes[match[2]]:
		reason = match[2]
	case strings.HasPrefix(match[2], unknownAnchor):
		reason = "an alias refers to an anchor that does not exist"
	}
	return &Error{Line: line, Reason: reason}
}
