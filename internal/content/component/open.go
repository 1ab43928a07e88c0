package component

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/ctf"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

var errFiles = errors.New("archives of the file system can only be used on the command line")

func (s *Session) openRepository(spec repository.Spec, context descriptor.Typed) (repository.Repository, error) {
	switch spec.Kind {
	case repository.KindOCI:
		return repository.OCI(s.store(spec.Scheme, spec.Host), spec, context), nil
	case repository.KindCTF:
		if !s.options.Files {
			return nil, errFiles
		}
		opened, err := ctf.Open(spec.FilePath)
		if err != nil {
			return nil, err // the caller says where
		}
		s.archives = append(s.archives, opened)
		return repository.OCI(opened, spec, context), nil
	case repository.KindComponentArchive:
		if !s.options.Files {
			return nil, errFiles
		}
		files, closer, err := openFiles(spec.FilePath)
		if err != nil {
			return nil, err
		}
		s.archives = append(s.archives, closer)
		return repository.ComponentArchive(files, context) // the caller says where
	case repository.KindLocal:
		return s.openLocal(spec, context)
	}
	return nil, fmt.Errorf("a repository of type %s cannot be opened", spec.Kind)
}

// openLocal opens a directory below the root of local repositories.
func (s *Session) openLocal(spec repository.Spec, context descriptor.Typed) (repository.Repository, error) {
	root := s.options.Local
	if root == nil {
		root = memfs.Empty()
	}
	directory := memfs.Clean(spec.FilePath)
	files, err := fs.Sub(root, directory)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", directory, err)
	}
	return repository.Local(files, context) // the caller says where
}

// openFiles opens a directory, or a tar of one.
func openFiles(name string) (fs.FS, io.Closer, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, fmt.Errorf("open the archive: %w", err)
	}
	if info.IsDir() {
		// The root keeps links inside.
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, nil, fmt.Errorf("open the archive: %w", err)
		}
		return root.FS(), root, nil
	}
	file, err := os.Open(name) // the user named it
	if err != nil {
		return nil, nil, fmt.Errorf("open the archive: %w", err)
	}
	limits := archive.DefaultLimits()
	limits.Bytes = 1 << 30
	files, err := archive.Unpack(file, limits)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return files, file, nil
}

// Overwrites returns the rules of an object as plain values.
func Overwrites(rules v1alpha1.ComponentVersionOverwriteList) []Overwrite {
	plain := func(r v1alpha1.ComponentVersionOverwriteReference) Reference {
		return Reference{Context: Context(r.RepositoryContext), Name: r.ComponentName, Version: r.Version}
	}
	overwrites := make([]Overwrite, 0, len(rules))
	for _, rule := range rules {
		overwrites = append(overwrites, Overwrite{Source: plain(rule.Source), Substitution: plain(rule.Substitution)})
	}
	return overwrites
}

// Context returns the repository context of an object, or nil.
func Context(object *v1alpha1.UnstructuredTypedObject) descriptor.Typed {
	if object == nil || len(object.Raw) == 0 {
		return nil
	}
	return descriptor.Typed(object.Raw)
}
