package componentfunc

import (
	"context"
	"errors"
	"strings"

	"github.com/distribution/reference"
)

// Pure returns the functions that need no component: parseOCIRef, ociRefRepo and
// ociRefVersion.
func Pure() map[string]Function {
	return map[string]Function{
		"parseOCIRef":   ociFunction(func(repository, version string) any { return []any{repository, version} }),
		"ociRefRepo":    ociFunction(func(repository, _ string) any { return repository }),
		"ociRefVersion": ociFunction(func(_, version string) any { return version }),
	}
}

func ociFunction(result func(repository, version string) any) Function {
	return func(_ context.Context, args []any) (any, error) {
		switch {
		case len(args) == 0:
			return nil, errors.New("Too few arguments for parseOCIReference. Expected 1 reference.") //nolint:revive,staticcheck // like the next
		case len(args) > 1:
			return nil, errors.New("Too many arguments for parseOCIReference. Expected 1 reference.") //nolint:revive,staticcheck // a text that is known
		}
		text, ok := args[0].(string)
		if !ok {
			return nil, errors.New("Invalid argument: string expected, but it is " + kind(args[0]))
		}
		repository, version, err := parseOCI(text)
		if err != nil {
			return nil, err
		}
		return result(repository, version), nil
	}
}

// parseOCI splits a reference into repository and version. A digest goes before a
// tag, and without either the version is latest; yet there must be a colon
// somewhere, as templates know it.
func parseOCI(text string) (repository, version string, err error) {
	bare := text
	if _, after, found := strings.Cut(text, "://"); found {
		bare = after
	}
	parsed, err := reference.ParseDockerRef(bare)
	if err != nil {
		return "", "", explainOCI(err)
	}
	if !strings.Contains(text, ":") {
		return "", "", errors.New("invalid reference: argument 1 has neither a tag nor a digest, expected host/repository:tag or host/repository@digest")
	}
	switch parsed := parsed.(type) {
	case reference.Digested:
		version = parsed.Digest().String()
	case reference.Tagged:
		version = parsed.Tag()
	}
	return repositoryOf(parsed), version, nil
}

// repositoryOf leaves out the default registry, and its directory of official
// images.
func repositoryOf(parsed reference.Named) string {
	switch host := reference.Domain(parsed); host {
	case "docker.io", "index.docker.io":
		return strings.TrimPrefix(reference.Path(parsed), "library/")
	default:
		return host + "/" + reference.Path(parsed)
	}
}

// explainOCI says what is wrong with a reference without showing it: the parser repeats parts of
// the text.
func explainOCI(err error) error {
	for _, known := range []error{
		reference.ErrTagInvalidFormat, reference.ErrDigestInvalidFormat, reference.ErrNameContainsUppercase,
		reference.ErrNameEmpty, reference.ErrNameTooLong,
	} {
		if errors.Is(err, known) {
			return errors.New("invalid reference: argument 1: " + known.Error())
		}
	}
	return errors.New("invalid reference format: argument 1 is not of the form host/repository:tag or host/repository@digest, in lower case")
}
