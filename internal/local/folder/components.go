package folder

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/publish"
	"go.landscaper.dev/internal/content/component/repository"
)

// built is a component version of a constructor, with the contents of its resources by their references.
type built struct {
	descriptor *descriptor.Descriptor
	blobs      map[string][]byte
}

// build makes the component version that a constructor would publish. What has an access keeps it.
func (r *reader) build(base string, from *publish.Component) (built, error) {
	made := built{descriptor: from.Descriptor(), blobs: map[string][]byte{}}
	for i := range from.Resources {
		input := from.Resources[i].Input
		if input == nil {
			continue
		}
		content, mediaType, err := r.input(base, input)
		if err != nil {
			return built{}, fmt.Errorf("resource %q: %w", from.Resources[i].Name, err)
		}
		if input.MediaType != "" {
			mediaType = input.MediaType
		}
		reference := digest.FromBytes(content).String()
		made.blobs[reference] = content
		made.descriptor.Resources[i].Access = descriptor.Typed(encode(map[string]any{"type": "localBlob", "localReference": reference, "mediaType": mediaType}))
	}
	for i, source := range from.Sources {
		if source.Input != nil {
			made.descriptor.Sources[i].Access = descriptor.Typed(encode(map[string]any{"type": "none"}))
		}
	}
	return made, nil
}

// input reads the content of a resource from the folder.
func (r *reader) input(base string, input *publish.Input) (content []byte, mediaType string, err error) {
	kind, _, _ := strings.Cut(input.Type, "/")
	switch kind {
	case "utf8", "binary":
		return input.InPlace()
	case "dir", "file", "helm":
	default:
		return nil, "", fmt.Errorf("an input of type %q is not read in a landscape in memory: use dir, file, helm, utf8 or binary", input.Type)
	}
	if input.HelmRepository != "" {
		return nil, "", fmt.Errorf("the chart is in a repository: nothing leaves this machine")
	}
	name, err := within(base, input.Path)
	if err != nil {
		return nil, "", err
	}
	info, err := fs.Stat(r.files, name)
	if err != nil {
		return nil, "", err // says which
	}
	mediaType = "application/octet-stream"
	switch {
	case info.IsDir():
		prefix := ""
		if kind == "helm" || input.PreserveDir {
			prefix = path.Base(name)
		}
		content, err = r.pack(name, prefix)
		mediaType = "application/x-tar"
	default:
		content, err = r.files.content(name)
	}
	if err == nil && (input.Compress || kind == "helm" && info.IsDir()) {
		content, err = zip(content)
		mediaType = "application/x-tgz"
	}
	if kind == "helm" {
		mediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	}
	return content, mediaType, err
}

func zip(content []byte) ([]byte, error) {
	var out bytes.Buffer
	err := archive.Gzip(&out, func(to io.Writer) error {
		_, err := to.Write(content)
		return err
	})
	return out.Bytes(), err
}

// pack makes a tar of a directory.
func (r *reader) pack(directory, prefix string) ([]byte, error) {
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	err := fs.WalkDir(r.files, directory, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := r.files.content(name)
		if err != nil {
			return err // says which
		}
		as := path.Join(prefix, strings.TrimPrefix(name, directory+"/"))
		if err := writer.WriteHeader(&tar.Header{Name: as, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = writer.Write(text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", directory, err)
	}
	return out.Bytes(), writer.Close()
}

// components are those of a folder.
type components struct {
	built []built
	files []string
}

// repository returns the repository of the component versions.
func (c components) repository() repository.Repository {
	builder := &memfs.Builder{}
	var descriptors []*descriptor.Descriptor
	for _, one := range c.built {
		descriptors = append(descriptors, one.descriptor)
		for reference, content := range one.blobs {
			// The same content twice is the same file.
			_ = builder.AddFile(strings.Replace(reference, ":", ".", 1), string(content))
		}
	}
	return inFolder{repository.Inline(descriptors, builder.Tree()), c.names()}
}

func (c components) names() []string {
	var names []string
	for _, one := range c.built {
		names = append(names, one.descriptor.Name+":"+one.descriptor.Version)
	}
	slices.Sort(names)
	return names
}

// inFolder says of a missing component version which ones there are.
type inFolder struct {
	repository.Repository
	names []string
}

// Lookup implements repository.Repository.
func (f inFolder) Lookup(ctx context.Context, name, version string) (*repository.Version, error) {
	found, err := f.Repository.Lookup(ctx, name, version)
	if err != nil {
		return nil, &repository.NotFoundError{Name: name, Version: version, In: "the folder, which has " + strings.Join(f.names, ", ")}
	}
	return found, nil
}
