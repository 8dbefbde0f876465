package graph

import (
	"context"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/model/kg"
)

// cache holds the graphs that Load read, by folder.
var cache struct {
	sync.Mutex
	byFolder map[string]*kg.KG
}

// Load reads a graph/ folder as kg.Load does, once per process and version of the folder: many DoFns may
// call it in Setup. The manifest's checksum tells versions apart.
func Load(folder string) (*kg.KG, error) {
	ctx := context.Background()
	cache.Lock()
	defer cache.Unlock()
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return nil, err
	}
	if k := cache.byFolder[folder]; k != nil && k.Manifest.Checksum == m.Checksum {
		return k, nil
	}
	k, err := kg.LoadManifest(ctx, folder, m)
	if err != nil {
		return nil, err
	}
	if cache.byFolder == nil {
		cache.byFolder = map[string]*kg.KG{}
	}
	cache.byFolder[folder] = k
	return k, nil
}
