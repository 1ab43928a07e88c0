package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// outcome is the result of a case.
type outcome struct {
	ok     bool // the case passes in the basic sense
	strict bool // for error cases: nodes and classes agree
	isErr  bool
	detail string
}

func (o outcome) passed() bool { return o.ok && (o.strict || !o.isErr) }

const defaultTimeout = 60 * time.Second

func (c *testCase) run(binary string) outcome {
	dir, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return outcome{detail: err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }() // what stays behind says nothing about the case
	args, err := c.prepare(dir)
	if err != nil {
		return outcome{detail: err.Error()}
	}
	timeout := defaultTimeout
	if c.Timeout > 0 {
		timeout = time.Duration(c.Timeout * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = os.Environ()
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		return outcome{isErr: c.Error != nil, detail: fmt.Sprintf("does not end within %s", timeout)}
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{detail: err.Error()}
	}
	if c.Error != nil {
		return c.checkError(err != nil, stdout.String(), stderr.String())
	}
	if err != nil {
		return outcome{detail: "unexpected error:\n" + stderr.String()}
	}
	return c.checkResult(dir, stdout.Bytes())
}

func (c *testCase) checkResult(dir string, out []byte) outcome {
	docs, err := decodeAll(out)
	if err != nil {
		return outcome{detail: fmt.Sprintf("output is no YAML: %v\n%s", err, out)}
	}
	expected, err := c.expectedDocs()
	if err != nil {
		return outcome{detail: err.Error()}
	}
	if len(expected) == 0 && len(bytes.TrimSpace(out)) == 0 {
		return outcome{ok: true}
	}
	if len(docs) != len(expected) {
		return outcome{detail: fmt.Sprintf("%d documents instead of %d:\n%s", len(docs), len(expected), out)}
	}
	for i := range docs {
		cmp := &comparison{messages: c.MessagePaths}
		if cmp.compare("", expected[i], docs[i]); cmp.difference != "" {
			return outcome{detail: cmp.difference + "\n" + string(out)}
		}
	}
	if c.ExpectedState.Kind == 0 {
		return outcome{ok: true}
	}
	return c.checkState(dir)
}

func (c *testCase) checkState(dir string) outcome {
	text, err := os.ReadFile(filepath.Join(dir, "state.yaml"))
	if err != nil {
		return outcome{detail: err.Error()}
	}
	var want, got any
	if err := errors.Join(c.ExpectedState.Decode(&want), yaml.Unmarshal(text, &got)); err != nil {
		return outcome{detail: err.Error()}
	}
	cmp := &comparison{}
	if cmp.compare("state", want, got); cmp.difference != "" {
		return outcome{detail: cmp.difference + "\n" + string(text)}
	}
	return outcome{ok: true}
}

func (c *testCase) expectedDocs() ([]any, error) {
	if c.ExpectedDocs.Kind != 0 {
		var docs []any
		return docs, c.ExpectedDocs.Decode(&docs)
	}
	var doc any
	return []any{doc}, c.Expected.Decode(&doc)
}

func decodeAll(text []byte) ([]any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var docs []any
	for {
		var doc any
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	if len(docs) == 0 {
		docs = append(docs, nil)
	}
	return docs, nil
}

// nodeLine finds the nodes of an error report; nested ones are indented more.
var nodeLine = regexp.MustCompile(`(?m)^\t[^\t\n][^\n]*?\tin ([^\t\n]+)\t([^\t\n]*)\t\([^\t\n]*\)\t([*@-])`)

func (c *testCase) checkError(failed bool, stdout, stderr string) outcome {
	o := outcome{isErr: true, ok: failed && stdout == ""}
	if !o.ok {
		o.detail = "an error is expected, but the output is\n" + stdout
		return o
	}
	classes := map[string]string{}
	var want, got []string
	for _, n := range c.Error.Nodes {
		classes[n.Path] = n.Class
		want = append(want, n.Class+" "+n.Path)
	}
	for _, m := range nodeLine.FindAllStringSubmatch(stderr, -1) {
		class := m[3]
		if expected, ok := classes[m[2]]; ok && expected == "" {
			class = "" // the case leaves the class open
		}
		got = append(got, class+" "+m[2])
	}
	sort.Strings(want)
	sort.Strings(got)
	o.strict = strings.Join(want, "\n") == strings.Join(got, "\n")
	if !o.strict {
		o.detail = fmt.Sprintf("failing nodes are\n%s\ninstead of\n%s\n%s",
			strings.Join(got, "\n"), strings.Join(want, "\n"), stderr)
	}
	return o
}
