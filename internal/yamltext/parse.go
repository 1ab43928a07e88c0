package yamltext

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parse returns the first document of a text, nil if there is none.
func parse(text []byte) (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, problem(err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

var located = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// problems are what the parser says without a word of the text.
var problems = map[string]bool{
	"mapping values are not allowed in this context":               true,
	"mapping keys are not allowed in this context":                 true,
	"block sequence entries are not allowed in this context":       true,
	"did not find expected key":                                    true,
	"did not find expected '-' indicator":                          true,
	"did not find expected ',' or ']'":                             true,
	"did not find expected ',' or '}'":                             true,
	"did not find expected node content":                           true,
	"did not find expected <document start>":                       true,
	"did not find expected <stream-start>":                         true,
	"did not find expected digit or '.' character":                 true,
	"did not find expected comment or line break":                  true,
	"did not find expected alphabetic or numeric character":        true,
	"did not find expected hexdecimal number":                      true,
	"did not find expected whitespace":                             true,
	"did not find expected whitespace or line break":               true,
	"did not find expected '!'":                                    true,
	"did not find expected tag URI":                                true,
	"did not find expected version number":                         true,
	"did not find the expected '>'":                                true,
	"did not find URI escaped octet":                               true,
	"could not find expected ':'":                                  true,
	"could not find expected directive name":                       true,
	"found an incorrect leading UTF-8 octet":                       true,
	"found an incorrect trailing UTF-8 octet":                      true,
	"found character that cannot start any token":                  true,
	"found a tab character that violates indentation":              true,
	"found a tab character where an indentation space is expected": true,
	"found extremely long version number":                          true,
	"found unexpected end of stream":                               true,
	"found unexpected document indicator":                          true,
	"found unexpected non-alphabetical character":                  true,
	"found undefined tag handle":                                   true,
	"found unknown escape character":                               true,
	"found unknown directive name":                                 true,
	"found incompatible YAML document":                             true,
	"found duplicate %YAML directive":                              true,
	"found duplicate %TAG directive":                               true,
	"found an indentation indicator equal to 0":                    true,
	"found invalid Unicode character escape code":                  true,
	"exceeded max depth of 10000":                                  true,
	"control characters are not allowed":                           true,
	"invalid leading UTF-8 octet":                                  true,
	"invalid trailing UTF-8 octet":                                 true,
	"invalid length of a UTF-8 sequence":                           true,
	"incomplete UTF-8 octet sequence":                              true,
	"incomplete UTF-16 character":                                  true,
	"incomplete UTF-16 surrogate pair":                             true,
	"unexpected low surrogate area":                                true,
	"expected low surrogate area":                                  true,
	"invalid Unicode character":                                    true,
}

// problem keeps the position and the kind of an error of the parser, which has
// them only in its message.
func problem(err error) *Error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return &Error{Reason: "the text is not YAML"}
	}
	line, _ := strconv.Atoi(match[1])
	reason := "the text is not YAML"
	switch {
	case problems[match[2]]:
		reason = match[2]
	case strings.HasPrefix(match[2], "unknown anchor"):
		reason = "an alias refers to an anchor that does not exist"
	}
	return &Error{Line: line, Reason: reason}
}
