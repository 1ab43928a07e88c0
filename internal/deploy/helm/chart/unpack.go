package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	loading "helm.sh/helm/v4/pkg/chart/loader/archive"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/archive"
)

// Limits of a chart with all charts that it holds. Those of an archive, in
// internal/content/component/archive, count for all archives together.
const (
	// maxPacked is how large the archive of a chart may be.
	maxPacked = 32 << 20
	// maxCharts is how many charts there may be.
	maxCharts = 500
	// maxNesting is how deep charts may be in each other.
	maxNesting = 16
	// maxTexts is how much the texts that Helm reads into memory may have together, as
	// JSON with all aliases resolved: they take many times as much when they are read.
	maxTexts = 8 << 20
)

// unpack reads the archive of a chart and of the charts in it.
func unpack(ctx context.Context, packed []byte) (*helmchart.Chart, error) {
	if len(packed) > maxPacked {
		return nil, &archive.TooLargeError{What: "the number of bytes of the archive", Limit: maxPacked}
	}
	limits := archive.DefaultLimits()
	u := &unpacking{ctx: ctx, left: limits, tar: 2 * limits.Bytes, charts: maxCharts, texts: maxTexts}
	return u.archive(packed, 0)
}

// unpacking counts what all archives of a chart have together.
type unpacking struct {
	ctx context.Context // lives for one call
	// left is what may still come out; tar counts headers and padding as well.
	left   archive.Limits
	tar    int64
	charts int
	texts  int
}

func (u *unpacking) archive(packed []byte, depth int) (*helmchart.Chart, error) {
	files, err := u.files(packed)
	if err != nil {
		return nil, err
	}
	return u.chart(files, depth)
}

// files reads the files of an archive, without the directory around them.
func (u *unpacking) files(packed []byte) (*files, error) {
	if start := bytes.TrimSpace(packed[:min(len(packed), 512)]); bytes.HasPrefix(start, []byte("<")) {
		return nil, errors.New("it is a page of HTML or XML and not an archive: check the address, which may ask for a login or not exist")
	}
	plain, err := archive.Open(bytes.NewReader(packed), archive.DefaultLimits())
	if err != nil {
		return nil, err // says what was done
	}
	defer plain.Close() //nolint:errcheck // nothing is written
	found := &files{at: map[string]int{}}
	err = archive.WalkTar(&counted{from: plain, left: &u.tar}, u.left, func(entry archive.Entry) error {
		if err := u.ctx.Err(); err != nil {
			return err // the caller gave up
		}
		u.left.Files--
		u.left.Bytes -= entry.Size
		data, err := archive.ReadAll(entry.Content, entry.Size)
		if err != nil {
			return err // says what was done
		}
		found.add(entry.Path, bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
		return nil
	})
	switch {
	case err != nil:
		return nil, u.known(err)
	case len(found.all) == 0:
		return nil, errors.New("it is not an archive, or has no files")
	}
	return found.inside()
}

// counted ends when what all archives may have together has come out.
type counted struct {
	from io.Reader
	left *int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if *c.left -= int64(n); *c.left < 0 {
		return 0, &archive.TooLargeError{What: "the number of bytes of all archives", Limit: 2 * archive.DefaultLimits().Bytes}
	}
	return n, err // a reader returns io.EOF as it is
}

// known puts the limit in the words of this package: what is left is of no interest.
func (u *unpacking) known(err error) error {
	var large *archive.TooLargeError
	if errors.As(err, &large) {
		return fmt.Errorf("it is too large: with all charts that it holds it may have %d MiB in %d files, unpacked from not less than a thousandth: %w", archive.DefaultLimits().Bytes>>20, archive.DefaultLimits().Files, err)
	}
	return err
}

// files are files in the order of their archive. A file that comes again replaces
// the first one.
type files struct {
	all []*loading.BufferedFile
	at  map[string]int
}

func (f *files) add(name string, data []byte) {
	file := &loading.BufferedFile{Name: name, Data: data}
	if i, exists := f.at[name]; exists {
		f.all[i] = file
		return
	}
	f.at[name] = len(f.all)
	f.all = append(f.all, file)
}

const chartFile = "Chart.yaml"

// inside returns the files without the directory around them, if there is one.
func (f *files) inside() (*files, error) {
	if _, bare := f.at[chartFile]; bare {
		return f, nil
	}
	within := &files{at: map[string]int{}}
	for _, file := range f.all {
		_, name, found := strings.Cut(file.Name, "/")
		if !found {
			return nil, fmt.Errorf("it has the file %q beside the directory of the chart", file.Name)
		}
		within.add(name, file.Data)
	}
	return within, nil
}

// chart makes a chart of its files and of the charts in it.
func (u *unpacking) chart(from *files, depth int) (*helmchart.Chart, error) {
	if depth > maxNesting {
		return nil, &archive.TooLargeError{What: "the depth of charts in charts", Limit: maxNesting}
	}
	if u.charts--; u.charts < 0 {
		return nil, &archive.TooLargeError{What: "the number of charts in the chart", Limit: maxCharts}
	}
	var own []*loading.BufferedFile
	held := map[string]*files{}
	for _, file := range from.all {
		rest, below := strings.CutPrefix(file.Name, "charts/")
		if !below || path.Ext(file.Name) == ".prov" {
			own = append(own, file)
			continue
		}
		name, inside, _ := strings.Cut(rest, "/")
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		if held[name] == nil {
			held[name] = &files{at: map[string]int{}}
		}
		held[name].add(inside, file.Data)
	}
	if err := u.checkTexts(own); err != nil {
		return nil, err
	}
	made, err := loader.LoadFiles(own)
	if err != nil {
		return nil, err // names the file
	}
	if version := made.Metadata.APIVersion; version != helmchart.APIVersionV1 && version != helmchart.APIVersionV2 {
		return nil, fmt.Errorf("%s: apiVersion %.50q is not known: v1 and v2 are", chartFile, version)
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		below, err := u.below(name, held[name], depth+1)
		if err != nil {
			return nil, fmt.Errorf("charts/%s: %w", name, err)
		}
		made.AddDependency(below)
	}
	return made, nil
}

// below makes a chart that is held by another one: an archive or a directory.
func (u *unpacking) below(name string, from *files, depth int) (*helmchart.Chart, error) {
	_, isFile := from.at[""]
	switch {
	case isFile && path.Ext(name) == ".tgz":
		return u.archive(from.all[from.at[""]].Data, depth)
	case isFile:
		return nil, errors.New("it is neither a directory nor an archive of type .tgz: charts holds charts alone")
	}
	return u.chart(from, depth)
}

// textLimits are for one text, and far above what people write.
func textLimits() yamltext.Limits {
	limits := yamltext.Lenient()
	limits.Text, limits.Values, limits.Bytes = 4<<20, 200_000, maxTexts
	return limits
}

// checkTexts refuses YAML that becomes a document which fits into no memory. Helm
// reads it without such limits.
func (u *unpacking) checkTexts(own []*loading.BufferedFile) error {
	for _, file := range own {
		switch file.Name {
		case chartFile, "Chart.lock", "values.yaml", "requirements.yaml", "requirements.lock":
			if err := u.checkText(file.Data); err != nil {
				return fmt.Errorf("%s: %w", file.Name, err)
			}
		}
	}
	return nil
}

func (u *unpacking) checkText(text []byte) error {
	documents, err := yamltext.Documents(text, textLimits())
	if err != nil {
		return err // the caller names the file
	}
	for _, document := range documents {
		raw, err := document.JSON()
		if err != nil {
			return err // the caller names the file
		}
		if u.texts -= len(raw); u.texts < 0 {
			return &archive.TooLargeError{What: "the size of all values and descriptions of the chart and the charts in it", Limit: maxTexts}
		}
	}
	return nil
}

// missing names the charts that a chart depends on and does not hold. Nothing is fetched for it.
func missing(loaded *helmchart.Chart) []string {
	var warnings []string
	held := map[string]bool{}
	for _, below := range loaded.Dependencies() {
		held[below.Name()] = true
		warnings = append(warnings, missing(below)...)
	}
	for _, wanted := range loaded.Metadata.Dependencies {
		if !held[wanted.Name] {
			warnings = append(warnings, fmt.Sprintf("chart %s depends on chart %s, which it does not hold: pack it again after helm dependency update", loaded.ChartFullPath(), wanted.Name))
		}
	}
	return warnings
}
