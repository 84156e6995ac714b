module github.com/gaitnet/gait

go 1.26

require (
	github.com/go-gl/mathgl v1.2.0
	github.com/mlange-42/arche v0.15.3
	github.com/mlange-42/arche-model v0.10.0
	github.com/qmuntal/gltf v0.28.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	pgregory.net/rapid v1.3.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20230418202329-0354be287a23 // indirect
)
