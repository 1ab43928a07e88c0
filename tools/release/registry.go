package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/retry"

	"go.landscaper.dev/tools/release/artifact"
	"go.landscaper.dev/tools/release/chart"
	"go.landscaper.dev/tools/release/component"
	"go.landscaper.dev/tools/release/document"
	"go.landscaper.dev/tools/release/image"
	"go.landscaper.dev/tools/release/pack"
	"go.landscaper.dev/tools/release/program"
	"go.landscaper.dev/tools/release/provenance"
	"go.landscaper.dev/tools/release/sign"
)

// inClusters are the programs that have an image, and a chart of the same name.
var inClusters = []program.Program{program.Server, program.ShootFlux}

// images makes the images, and the charts that name them.
func (r *release) images(ctx context.Context) error {
	for _, p := range inClusters {
		notices := []pack.File{{Name: "licenses/"}}
		for _, notice := range r.notices {
			notices = append(notices, pack.File{Name: "licenses/" + notice.Name, Data: notice.Data})
		}
		made, err := image.Image{
			Repository: r.registry + "/" + p.Name, Tag: r.version, Name: p.Name, At: r.at, Notices: notices,
			Labels: image.Labels(p, r.version, r.commit, r.home, r.at),
		}.Build(ctx, r.on(p), r.programs[p.Name])
		if err != nil {
			return err // names the image
		}
		if err := r.layout(ctx, p.Name+"_"+r.version+"_image", made); err != nil {
			return err // names the image
		}
		packed := r.chart(p.Name)
		content, err := packed.Pack()
		if err != nil {
			return err // names the chart
		}
		if err := r.write(p.Name+"-"+packed.Bare()+".tgz", content); err != nil {
			return err // names the file
		}
		stored, err := packed.Artifact(ctx, r.registry+"/charts/"+p.Name)
		if err != nil {
			return err // names the chart
		}
		r.artifacts = append(r.artifacts, stored)
	}
	return nil
}

// layout adds an artifact to the release, and writes it for those who have no registry.
func (r *release) layout(ctx context.Context, name string, made *artifact.Artifact) error {
	r.artifacts = append(r.artifacts, made)
	var out bytes.Buffer
	if err := made.Layout(ctx, &out, r.at); err != nil {
		return err // names the artifact
	}
	return r.write(name+".oci.tar", out.Bytes())
}

// chart is the chart of a program, with its image.
func (r *release) chart(name string) chart.Chart {
	made := r.find(name)
	return chart.Chart{Folder: filepath.Join(r.folder, "charts", name), Version: r.version, Image: made.Repository, Digest: made.Root.Digest.String(), At: r.at}
}

// find returns an artifact that was made: its repository is below that of the release.
func (r *release) find(name string) *artifact.Artifact {
	for _, artifact := range r.artifacts {
		if artifact.Repository == r.registry+"/"+name {
			return artifact
		}
	}
	return nil
}

// component writes the component version as an archive.
func (r *release) component(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err // names the folder
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	var resources []component.Resource
	for _, p := range inClusters {
		resources = append(resources,
			component.Resource{Name: p.Name + "-image", Type: component.Image, Artifact: r.find(p.Name)},
			component.Resource{Name: p.Name + "-chart", Type: component.Chart, Artifact: r.find("charts/" + p.Name)})
	}
	constructor, err := component.Constructor(folder, r.version, r.home, r.commit, r.at, resources...)
	if err != nil {
		return err // says what it did
	}
	archive := filepath.Join(folder, "component.tgz")
	if _, err := document.Run(ctx, "components", "push", constructor, archive, "--create", "--quiet"); err != nil {
		return err // says what it did
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		return err // names the file
	}
	return r.write(componentFile, content)
}

const componentFile = "landscaper-component.tgz"

// attach signs what belongs into the registry, and says of it how it was made and, of images, what
// is in them.
func (r *release) attach(ctx context.Context) error {
	for _, made := range r.artifacts {
		signature, err := r.key.Image(ctx, made, r.at)
		if err != nil {
			return err // names the artifact
		}
		statement, err := r.provenance().Statement(provenance.OfArtifact(made))
		if err != nil {
			return err // says what it did
		}
		statements := []sign.Statement{{PredicateType: provenance.SLSA, Text: statement}}
		for _, p := range inClusters {
			if made != r.find(p.Name) {
				continue
			}
			for _, platform := range r.on(p) {
				content, err := r.material(p, platform)
				if err != nil {
					return err // names the program
				}
				text, err := provenance.Statement(provenance.CycloneDX, content, provenance.OfArtifact(made))
				if err != nil {
					return err // says what it did
				}
				statements = append(statements, sign.Statement{PredicateType: provenance.CycloneDX, Text: text})
			}
		}
		attested, err := r.key.Attest(ctx, made, r.at, statements...)
		if err != nil {
			return err // names the artifact
		}
		r.artifacts = append(r.artifacts, signature, attested)
	}
	return nil
}

// publish pushes what belongs into the registry. Signatures come after what they sign.
func (r *release) publish(ctx context.Context) error {
	if !r.push {
		return nil
	}
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return fmt.Errorf("read the credentials for %s: %w", r.registry, err)
	}
	client := &auth.Client{Client: retry.DefaultClient, Cache: auth.NewCache(), Credential: credentials.Credential(store)}
	for _, artifact := range r.artifacts {
		repository, err := remote.NewRepository(artifact.Repository)
		if err != nil {
			return fmt.Errorf("push %s: %w", artifact.Reference(), err)
		}
		repository.Client, repository.PlainHTTP = client, r.plainHTTP
		if err := artifact.Push(ctx, repository); err != nil {
			return err // names the artifact
		}
	}
	arguments := []string{"components", "copy", filepath.Join(r.out, componentFile), component.Name, r.version, r.registry, "--quiet"}
	if r.plainHTTP {
		arguments = append(arguments, "--allow-plain-http")
	}
	if _, err := document.Run(ctx, arguments...); err != nil {
		return errors.Join(errors.New("push the component version"), err)
	}
	return nil
}
