package bill

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// Material returns the bill of material of a program, in the format CycloneDX. The modules are
// those that the linker has recorded in the program, and so exactly what is in it. The same program gives the
// same bytes.
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
	components, references := []cyclonedx.Component{}, []string{}
	add := func(path, version string) error {
		module, ok := known[path]
		if !ok {
			return fmt.Errorf("the program %s contains %s, whose licence was not looked at", name, path)
		}
		purl := "pkg:golang/" + path + "@" + url.PathEscape(version)
		components = append(components, cyclonedx.Component{
			BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl, Licenses: licences(module.Licences()),
		})
		references = append(references, purl)
		return nil
	}
	if err := add(standard, info.GoVersion); err != nil {
		return nil, err
	}
	for _, module := range info.Deps {
		if err := add(module.Path, module.Version); err != nil {
			return nil, err
		}
	}
	out.Components = &components
	out.Dependencies = &[]cyclonedx.Dependency{{Ref: subject, Dependencies: &references}}
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(out, cyclonedx.SpecVersion1_6); err != nil {
		return nil, fmt.Errorf("encode the bill of material of %s: %w", name, err)
	}
	return text.Bytes(), nil
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
