// Package render makes objects of Helm charts: it merges values as Helm does and
// executes the templates. Nothing of the machine can be reached from a
// chart, no name is looked up, no program runs, and no message repeats a value.
package render

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"sort"
	"strings"
	"time"

	helmaccess "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/template/gotemplate"
	"go.landscaper.dev/internal/content/template/mask"
)

// Lookup finds objects of the cluster that a chart is for. What does not exist is an
// empty map.
type Lookup func(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error)

// Input is what is rendered.
type Input struct {
	// Chart is the chart. It is not changed.
	Chart *helmchart.Chart
	// Values are those of the user, plain values. They are not changed.
	Values map[string]any
	// Name and Namespace are those of the release, Revision is its number.
	Name, Namespace string
	Revision        int
	// Upgrade is set if the release exists already.
	Upgrade bool
	// Capabilities are those of the cluster.
	Capabilities *common.Capabilities
	// SkipSchema leaves out the check of the values against the schemas of the chart.
	SkipSchema bool
	// Lookup reaches the cluster; nil finds nothing.
	Lookup Lookup
	// Limits bound the rendering; zero values mean those for charts.
	Limits gotemplate.Limits
}

// Values are the values of a release as its templates and its exports see them.
type Values struct {
	chart *helmchart.Chart
	// Root has Chart, Capabilities, Release and Values.
	Root   map[string]any
	values map[string]any
	hides  *mask.Mask
	// Warnings name what is probably not meant.
	Warnings []string
}

// maxDuration is how long a chart may take, with all that it looks up.
const maxDuration = time.Minute

// Merge works out the values of a release: values of the user win over those of the charts, and
// sub-charts that are switched off are left out.
func Merge(ctx context.Context, in Input) (values *Values, err error) {
	hush()
	hides := mask.Of(in.Values)
	defer func() {
		if recover() != nil {
			values, err = nil, invalid("the values do not fit the chart")
		}
	}()
	charted, err := copied(in.Chart, 0)
	if err != nil {
		return nil, err
	}
	if problem := kubeVersion(charted, in.Capabilities); problem != nil {
		return nil, problem
	}
	wanted := gotemplate.Local(in.Values)
	if err := chartutil.ProcessDependencies(charted, wanted); err != nil {
		return nil, invalid("its dependencies do not fit the values: " + hides.Hide(err.Error()))
	}
	warnings := misfits(charted, in.Values)
	if charted.Metadata.Deprecated {
		warnings = append(warnings, "chart "+charted.Name()+" is deprecated")
	}
	options := common.ReleaseOptions{Name: in.Name, Namespace: in.Namespace, Revision: in.Revision, IsInstall: !in.Upgrade, IsUpgrade: in.Upgrade}
	top, err := util.ToRenderValuesWithSchemaValidation(charted, wanted, options, in.Capabilities, true)
	if err != nil {
		return nil, invalid("the values cannot be merged with those of the chart: " + hides.Hide(err.Error()))
	}
	merged, err := jsonvalue.FromObject(top["Values"])
	if err != nil {
		return nil, invalid("the values cannot be merged with those of the chart")
	}
	v := &Values{chart: charted, Root: top, hides: hides, Warnings: warnings}
	v.values, _ = merged.(map[string]any)
	v.Root["Values"] = v.values
	if in.SkipSchema {
		return v, nil
	}
	return v, validate(ctx, charted, v.values)
}

func kubeVersion(chart *helmchart.Chart, capabilities *common.Capabilities) error {
	wanted := chart.Metadata.KubeVersion
	if wanted == "" || chartutil.IsCompatibleRange(wanted, capabilities.KubeVersion.String()) {
		return nil
	}
	return invalid(fmt.Sprintf("it is for Kubernetes %s, and the cluster has %s", wanted, capabilities.KubeVersion.Version))
}

// Output is what a chart makes.
type Output struct {
	// Files are what the templates printed, by their paths in the chart.
	Files map[string]string
	// Notes is the text for the user.
	Notes string
	// Definitions are the files of the folders crds, in the order of Helm.
	Definitions []File
}

// File is a file of a chart other than a template.
type File struct{ Name, Text string }

// Definitions are the files of the folders crds, of those charts that the values do not disable.
func (v *Values) Definitions() (files []File) {
	for _, crd := range v.chart.CRDObjects() {
		files = append(files, File{Name: crd.Filename, Text: string(crd.File.Data)})
	}
	return files
}

// Render executes the templates of a chart.
func Render(ctx context.Context, in Input, values *Values) (*Output, error) {
	limits := in.Limits
	if limits.Duration <= 0 {
		limits.Duration = maxDuration
	}
	config := gotemplate.Config{Limits: limits}
	if in.Lookup != nil {
		config.Functions = map[string]gotemplate.Function{"lookup": lookup(in.Lookup)}
	}
	members := members(values, in)
	output := &Output{Files: map[string]string{}, Definitions: values.Definitions()}
	if len(members) == 0 {
		return output, nil
	}
	printed, err := config.RenderSet(ctx, members, map[string]any{"values": in.Values})
	if err != nil {
		return nil, explain(err)
	}
	for name, text := range printed {
		switch {
		case name == path.Join(values.chart.Name(), "templates", notesName):
			output.Notes = text
		case strings.HasSuffix(name, notesName), strings.TrimSpace(text) == "":
		default:
			output.Files[name] = text
		}
	}
	return output, nil
}

const notesName = "NOTES.txt"

// members are all templates of a chart and its sub-charts. Those that are deeper come
// first, so that a chart can define again what its sub-charts define.
func members(values *Values, in Input) []gotemplate.Member {
	root := map[string]any{
		"Release": values.Root["Release"], "Capabilities": capabilitiesWith(in.Capabilities, values.chart),
		"Values": gotemplate.Local(values.values),
	}
	var found []gotemplate.Member
	collect(values.chart, root, &found)
	sort.Slice(found, func(i, j int) bool {
		a, b := found[i].Name, found[j].Name
		if deep, deeper := strings.Count(a, "/"), strings.Count(b, "/"); deep != deeper {
			return deep > deeper
		}
		return a > b
	})
	return found
}

// collect adds the templates of a chart, which see their own part of the values, and
// returns what they see.
func collect(chart *helmchart.Chart, parent map[string]any, into *[]gotemplate.Member) map[string]any {
	subCharts := map[string]any{}
	dot := map[string]any{
		"Chart": metadata(chart), "Files": filesOf(chart), "Release": parent["Release"], "Capabilities": parent["Capabilities"],
		"Values": parent["Values"], "Subcharts": subCharts,
	}
	if !chart.IsRoot() {
		own, _ := parent["Values"].(map[string]any)
		part, isMap := own[chart.Name()].(map[string]any)
		if !isMap {
			part = map[string]any{}
		}
		dot["Values"] = part
	}
	for _, child := range chart.Dependencies() {
		subCharts[child.Name()] = collect(child, dot, into)
	}
	library := strings.EqualFold(chart.Metadata.Type, "library")
	folder := chart.ChartFullPath()
	for _, template := range chart.Templates {
		partial := strings.HasPrefix(path.Base(template.Name), "_")
		if library && !partial {
			continue
		}
		name := path.Join(folder, template.Name)
		seen := make(map[string]any, len(dot)+1)
		for key, value := range dot {
			seen[key] = value
		}
		seen["Template"] = map[string]any{"Name": name, "BasePath": path.Join(folder, "templates")}
		*into = append(*into, gotemplate.Member{
			Source: gotemplate.Source{Name: name, Text: string(template.Data)}, Dot: seen, Partial: partial,
		})
	}
	return dot
}

// metadata is what a chart says about itself.
func metadata(chart *helmchart.Chart) map[string]any {
	accessor, err := helmaccess.NewAccessor(chart)
	if err != nil {
		slog.Debug("a chart without metadata", "error", err)
		return map[string]any{}
	}
	about := accessor.MetadataAsMap()
	about["IsRoot"] = accessor.IsRoot()
	return about
}

// Invalid says that a chart or its values cannot work: another attempt would only
// repeat it.
type Invalid struct{ reason string }

// Error implements error.
func (i *Invalid) Error() string { return i.reason }

func invalid(reason string) error { return &Invalid{reason: strings.TrimSpace(reason)} }

// explain separates failures that another attempt repeats from those outside of the chart: a
// cluster that does not answer.
func explain(err error) error {
	var failed *gotemplate.Error
	if !errors.As(err, &failed) {
		return err
	}
	var outside *lookupError
	if errors.As(err, &outside) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("render the chart: %w", err)
	}
	return invalid("render the chart: " + failed.Error())
}
