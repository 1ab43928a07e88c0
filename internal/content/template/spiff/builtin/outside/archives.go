// Package outside holds the functions that read documents and files, and those that
// reach the world outside of the evaluation.
package outside

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"path"
	"strings"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Archives are the functions that pack files.
var Archives = []call.Function{
	{Name: "archive", Usage: `archive(files [, "tar" or "targz"])`, Result: "string", Min: 1, Max: 2, Run: archive,
		Doc: "A tar archive (by default; or a compressed one) as base64 text, built in memory. `files` is a map of path " +
			"to content, or to a map with `data` or `base64`, and optionally `mode` and `path`; or a list of such maps. " +
			"Modification times are fixed, so equal files give equal archives.",
		Example: `length(archive({"a"="x"})) > 0`, Gives: `true`},
}

// archiveTime is the modification time of all entries.
var archiveTime = time.Unix(0, 0).UTC()

func archive(c *call.Call) (value.Value, error) {
	kind := "tar"
	if c.Len() == 2 {
		var err error
		if kind, err = c.Text(1); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	var out io.Writer = &b
	var zip *gzip.Writer
	switch kind {
	case "tar":
	case "targz":
		zip = gzip.NewWriter(&b)
		out = zip
	default:
		return nil, c.Failf("unknown kind %s, known are tar and targz", c.Quote(kind))
	}
	w := tar.NewWriter(out)
	if err := archiveAll(c, w, c.Args[0]); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, c.Failf("%w", err)
	}
	if zip != nil {
		if err := zip.Close(); err != nil {
			return nil, c.Failf("%w", err)
		}
	}
	return value.Text(base64.StdEncoding.EncodeToString(b.Bytes())), nil
}

func archiveAll(c *call.Call, w *tar.Writer, files value.Value) error {
	switch v := files.(type) {
	case *value.Map:
		for i, name := range v.Keys {
			if err := archiveFile(c, w, name, v.Items[i].Value); err != nil {
				return err
			}
		}
		return nil
	case *value.List:
		for _, n := range v.Items {
			m, ok := n.Value.(*value.Map)
			if !ok {
				return c.Wrong(0, "a map or a list of maps")
			}
			if m.Get("path") == nil {
				if err := archiveAll(c, w, m); err != nil {
					return err
				}
				continue
			}
			if err := archiveFile(c, w, "", m); err != nil {
				return err
			}
		}
		return nil
	}
	return c.Wrong(0, "a map or a list of maps")
}

func archiveFile(c *call.Call, w *tar.Writer, name string, v value.Value) error {
	mode := int64(0o644)
	data := v
	if m, ok := v.(*value.Map); ok {
		if p, ok := m.Field("path").(value.String); ok {
			name = p.Text
		}
		if n, ok := m.Field("mode").(value.Int); ok {
			mode = int64(n)
		}
		if data = m.Field("data"); data == nil {
			encoded, _ := m.Field("base64").(value.String)
			raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(encoded.Text), ""))
			if err != nil || m.Field("base64") == nil {
				return c.Failf("file %s needs the field data or base64", c.Quote(name))
			}
			data = value.Text(string(raw))
		}
	}
	text, err := content(data)
	if err != nil {
		return c.Failf("%w", err)
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" {
		return c.Failf("a file needs a path")
	}
	header := &tar.Header{
		Name: name, Mode: mode, Size: int64(len(text)), ModTime: archiveTime, Typeflag: tar.TypeReg,
	}
	if err := w.WriteHeader(header); err != nil {
		return c.Failf("%w", err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return c.Failf("%w", err)
	}
	return nil
}
