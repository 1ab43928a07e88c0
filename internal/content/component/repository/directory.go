package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// fileRepository has descriptors and blobs as files.
type fileRepository struct {
	name     string
	context  descriptor.Typed
	versions map[string]*descriptor.Descriptor
	blobs    fs.FS
}

// ComponentArchive returns the repository with the one component version of a
// component archive: component-descriptor.yaml and blobs.
func ComponentArchive(files fs.FS, context descriptor.Typed) (Repository, error) {
	d, err := readDescriptor(files, descriptor.FileName)
	if err != nil {
		return nil, fmt.Errorf("read a component archive: %w", err)
	}
	return &fileRepository{
		name: "the component archive", context: context, blobs: below(files, "blobs"),
		versions: map[string]*descriptor.Descriptor{d.Name + ":" + d.Version: d},
	}, nil
}

// Local returns the repository of a directory: each file in it is a descriptor,
// blobs are in the directory "blobs".
func Local(files fs.FS, context descriptor.Typed) (Repository, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("error indexing repository: %w", err)
	}
	versions := map[string]*descriptor.Descriptor{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		d, err := readDescriptor(files, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("error indexing repository: %s: %w", entry.Name(), err)
		}
		versions[d.Name+":"+d.Version] = d
	}
	return &fileRepository{name: "the local repository", context: context, versions: versions, blobs: below(files, "blobs")}, nil
}

// Inline returns the repository of descriptors that are part of an object. They
// are found whatever the repository context. Blobs may be nil.
func Inline(descriptors []*descriptor.Descriptor, blobs fs.FS) Repository {
	versions := map[string]*descriptor.Descriptor{}
	for _, d := range descriptors {
		if key := d.Name + ":" + d.Version; versions[key] == nil {
			versions[key] = d
		}
	}
	return &fileRepository{name: "the inline component descriptors", versions: versions, blobs: blobs}
}

func below(files fs.FS, directory string) fs.FS {
	// The name is valid.
	sub, _ := fs.Sub(files, directory)
	return sub
}

func readDescriptor(files fs.FS, name string) (*descriptor.Descriptor, error) {
	file, err := files.Open(name)
	if err != nil {
		return nil, err // the caller says where
	}
	defer file.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(file, descriptor.MaxSize)
	if err != nil {
		return nil, err // the caller says where
	}
	return descriptor.Decode(data) // the caller says where
}

// Lookup implements Repository.
func (r *fileRepository) Lookup(_ context.Context, name, version string) (*Version, error) {
	d, exists := r.versions[name+":"+version]
	if !exists {
		return nil, &NotFoundError{Name: name, Version: version, In: r.name}
	}
	found := &Version{Descriptor: d, Context: r.context, Warnings: d.Warnings()}
	if found.Context == nil {
		found.Context = d.EffectiveContext()
	}
	if r.blobs != nil {
		found.Blobs = fileBlobs{r.blobs}
	}
	return found, nil
}

// fileBlobs are files; a directory is delivered as a tar.
type fileBlobs struct{ files fs.FS }

// Open implements Blobs.
func (b fileBlobs) Open(_ context.Context, reference, mediaType string) (*Blob, error) {
	name := path.Clean(reference)
	if !fs.ValidPath(name) || name == "." {
		return nil, fmt.Errorf("the reference %.80q of a local blob leads out of the blobs", reference)
	}
	info, err := fs.Stat(b.files, name)
	if err != nil {
		// Transport archives write the digest with a dot.
		if dotted := digestFile(reference); dotted != "" {
			if info, err = fs.Stat(b.files, dotted); err == nil {
				name = dotted
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("local blob %.80q: %w", reference, err)
	}
	if info.IsDir() {
		var out bytes.Buffer
		if err := archive.PackTree(&out, below(b.files, name), archive.DefaultLimits()); err != nil {
			return nil, fmt.Errorf("local blob %.80q: %w", reference, err)
		}
		return &Blob{ReadCloser: io.NopCloser(&out), MediaType: "application/x-tar", Size: int64(out.Len())}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("local blob %.80q is not a regular file", reference)
	}
	file, err := b.files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("local blob %.80q: %w", reference, err)
	}
	return &Blob{ReadCloser: file, MediaType: mediaType, Size: info.Size()}, nil
}

func digestFile(reference string) string {
	for i := range reference {
		if reference[i] == ':' {
			return reference[:i] + "." + reference[i+1:]
		}
	}
	return ""
}

// Relative implements Blobs.
func (b fileBlobs) Relative() (oci.Store, string, error) {
	return nil, "", errors.New("a relative reference needs a component version in a registry")
}
