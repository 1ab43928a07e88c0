package bill

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// Material returns the bill of material of a program, in the format CycloneDX. The modules are
// those that the linker has recorded in the program, and those whose content is found in it, and so
// exactly what is in it. The same program gives the same bytes.
func Material(name, version, summary string, content []byte, modules []Module, at time.Time) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read what the program %s is made of: %w", name, err)
	}
	known := map[string]Module{}
	for _, module := range modules {
		known[module.Path] = module
	}
	subject := "pkg:golang/" + info.Main.Path + "@" + version + "#cmd/" + name
	out := cyclonedx.NewBOM()
	out.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, content).String()
	out.Metadata = &cyclonedx.Metadata{
		Timestamp: at.UTC().Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: subject, Type: cyclonedx.ComponentTypeApplication, Name: name, Version: version, Description: summary, PackageURL: subject,
			Licenses: licences([]string{"Apache-2.0"}), Properties: settings(info),
		},
	}
	contained, err := contents(info, content, known)
	if err != nil {
		return nil, fmt.Errorf("the program %s: %w", name, err)
	}
	components, references := []cyclonedx.Component{}, []string{}
	for _, module := range contained {
		purl := module.url()
		components = append(components, cyclonedx.Component{
			BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: strings.TrimPrefix(module.Path, npm), Version: module.Version, PackageURL: purl, Licenses: licences(module.Licences()),
		})
		references = append(references, purl)
	}
	out.Components = &components
	out.Dependencies = &[]cyclonedx.Dependency{{Ref: subject, Dependencies: &references}}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(out, cyclonedx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("encode the bill of material of %s: %w", name, err)
	}
	return text.Bytes(), nil
}

// contents are the modules of a program, with the versions that it records.
func contents(info *buildinfo.BuildInfo, content []byte, known map[string]Module) ([]Module, error) {
	recorded := []*debug.Module{{Path: standard, Version: info.GoVersion}}
	var all []Module
	for _, one := range append(recorded, info.Deps...) {
		module, ok := known[one.Path]
		if !ok {
			return nil, fmt.Errorf("it contains %s, whose licence was not looked at", one.Path)
		}
		module.Version = one.Version
		all = append(all, module)
	}
	for _, path := range slices.Sorted(maps.Keys(known)) {
		if module := known[path]; len(module.Content) > 0 && bytes.Contains(content, module.Content) {
			all = append(all, module)
		}
	}
	return all, nil
}

// url names a module as the bills of all languages do.
func (m Module) url() string {
	version := url.PathEscape(m.Version)
	if name, ok := strings.CutPrefix(m.Path, npm); ok {
		return "pkg:npm/" + name + "@" + version
	}
	return "pkg:golang/" + m.Path + "@" + version
}

func licences(names []string) *cyclonedx.Licenses {
	var all cyclonedx.Licenses
	for _, name := range names {
		all = append(all, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
	}
	return &all
}

// settings are how the program was compiled.
func settings(info *buildinfo.BuildInfo) *[]cyclonedx.Property {
	properties := []cyclonedx.Property{{Name: "go.version", Value: info.GoVersion}}
	for _, setting := range info.Settings {
		properties = append(properties, cyclonedx.Property{Name: "go.build." + setting.Key, Value: setting.Value})
	}
	return &properties
}
