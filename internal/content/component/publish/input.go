package publish

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/archive"
)

// Input is a content to be stored with the component version.
type Input struct {
	// Type is one of inputTypes; a version behind it, as in utf8/v1, does not count.
	Type string `json:"type"`
	Path string `json:"path,omitempty"`
	// MediaType of the content; it has a default for each type.
	MediaType string `json:"mediaType,omitempty"`
	// Compress asks for gzip.
	Compress bool `json:"compress,omitempty"`
	// PreserveDir packs the directory itself, not only what is in it.
	PreserveDir bool `json:"preserveDir,omitempty"`
	// FollowSymlinks packs what a link leads to instead of the link.
	FollowSymlinks bool `json:"followSymlinks,omitempty"`
	// IncludeFiles and ExcludeFiles are patterns of paths in a directory.
	IncludeFiles []string `json:"includeFiles,omitempty"`
	ExcludeFiles []string `json:"excludeFiles,omitempty"`
	// Text, Data and the formatted values are contents in place.
	Text          string          `json:"text,omitempty"`
	Data          []byte          `json:"data,omitempty"`
	JSON          json.RawMessage `json:"json,omitempty"`
	FormattedJSON json.RawMessage `json:"formattedJson,omitempty"`
	YAML          json.RawMessage `json:"yaml,omitempty"`
	// Repository is the name that an image or a chart gets where it is stored as one,
	// below that of the component unless it begins with a slash; for git it is where
	// Ref and Commit are.
	Repository string `json:"repository,omitempty"`
	Ref        string `json:"ref,omitempty"`
	Commit     string `json:"commit,omitempty"`
	// Values and Libraries are what a spiff template sees as inputvalues, and what it
	// is merged with.
	Values    json.RawMessage `json:"values,omitempty"`
	Libraries []string        `json:"libraries,omitempty"`
	// Version is that of a chart; HelmRepository is where it is, if it is no file.
	Version        string `json:"version,omitempty"`
	HelmRepository string `json:"helmRepository,omitempty"`
	CACert         string `json:"caCert,omitempty"`
	CACertFile     string `json:"caCertFile,omitempty"`
	// URL and what follows are of downloads.
	URL        string              `json:"url,omitempty"`
	Header     map[string][]string `json:"header,omitempty"`
	Verb       string              `json:"verb,omitempty"`
	Body       []byte              `json:"body,omitempty"`
	NoRedirect bool                `json:"noRedirect,omitempty"`
}

// inputTypes are the types of inputs, for messages.
const inputTypes = "dir, file, utf8, binary, spiff, ociArtifact, helm, wget or git"

// kind returns the type without its version.
func (i *Input) kind() string {
	kind, _, _ := strings.Cut(i.Type, "/")
	return kind
}

// maxInput is the size of the largest content that is read into memory.
const maxInput = 1 << 30

// read reads an input. Relative paths are looked for in the working directory,
// then beside the constructor file.
func (i *Input) read(base string) (content, error) {
	if i.kind() == "file" && !i.Compress {
		return i.file(base)
	}
	data, mediaType, err := i.plain(base)
	if err != nil {
		return content{}, fmt.Errorf("input of type %q: %w", i.Type, err)
	}
	return i.finish(data, mediaType)
}

// file is a content of any size.
func (i *Input) file(base string) (content, error) {
	mediaType := "application/octet-stream"
	if i.MediaType != "" {
		mediaType = i.MediaType
	}
	found, err := locate(base, i.Path)
	if err == nil {
		var c content
		if c, err = fromFile(found, mediaType); err == nil {
			return c, nil
		}
	}
	return content{}, fmt.Errorf("input of type %q: %w", i.Type, err)
}

// finish compresses a content if that is asked for.
func (i *Input) finish(data []byte, mediaType string) (content, error) {
	if i.MediaType != "" {
		mediaType = i.MediaType
	}
	if !i.Compress {
		return inMemory(data, mediaType), nil
	}
	var out bytes.Buffer
	err := archive.Gzip(&out, func(to io.Writer) error {
		_, err := to.Write(data)
		return err // a buffer takes everything
	})
	if i.MediaType == "" {
		mediaType = compressed(mediaType)
	}
	return inMemory(out.Bytes(), mediaType), err
}

func compressed(mediaType string) string {
	if mediaType == "application/x-tar" {
		return "application/x-tgz"
	}
	return mediaType + "+gzip"
}

func (i *Input) plain(base string) ([]byte, string, error) {
	switch i.kind() {
	case "dir":
		data, err := i.directory(base)
		return data, "application/x-tar", err
	case "file":
		data, err := readInput(base, i.Path)
		return data, "application/octet-stream", err
	case "utf8":
		return i.inPlace()
	case "binary":
		return i.Data, "application/octet-stream", nil
	}
	return nil, "", errors.New("use " + inputTypes)
}

// InPlace returns the content of an input that is written into the constructor file, and its media type.
func (i *Input) InPlace() (content []byte, mediaType string, err error) {
	if i.kind() == "binary" {
		return i.Data, "application/octet-stream", nil
	}
	return i.inPlace()
}

// inPlace returns a content that is written into the constructor file.
func (i *Input) inPlace() ([]byte, string, error) {
	switch {
	case i.FormattedJSON != nil:
		var out bytes.Buffer
		err := json.Indent(&out, i.FormattedJSON, "", "  ")
		return out.Bytes(), "application/json", err // the caller says which
	case i.JSON != nil:
		return i.JSON, "application/json", nil
	case i.YAML != nil:
		value, err := jsonvalue.FromJSONWithNumbers(i.YAML)
		if err != nil {
			return nil, "", err // the caller says which
		}
		text, err := yamltext.Encode(value)
		return []byte(text), "application/x-yaml", err // the caller says which
	}
	return []byte(i.Text), "text/plain", nil
}

// locate finds a path of an input.
func locate(base, name string) (string, error) {
	if name == "" {
		return "", errors.New("the path is missing")
	}
	if _, err := os.Stat(name); err == nil || filepath.IsAbs(name) {
		return name, nil
	}
	beside := filepath.Join(base, name)
	if _, err := os.Stat(beside); err != nil {
		return "", fmt.Errorf("%s is neither in the working directory nor beside the constructor file: %w", name, err)
	}
	return beside, nil
}

func readInput(base, name string) ([]byte, error) {
	found, err := locate(base, name)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(found) // the user named it
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(file, maxInput)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", found, err)
	}
	return data, nil
}
